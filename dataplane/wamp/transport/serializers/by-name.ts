// Lists the serializers by name.

import type { SerializerName } from '../../protocol/messages.ts'
import { cbor } from './cbor.ts'
import { json } from './json.ts'
import { msgpack } from './msgpack.ts'
import type { Serializer } from './serializer.ts'

export const SERIALIZERS = { json, msgpack, cbor } satisfies Record<SerializerName, Serializer>
