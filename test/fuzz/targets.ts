// All targets of the fuzzer: one for each reader of bytes that a peer of the gateway or of the operator may choose.

import type { FuzzTarget } from './fuzz.ts'
import { admissionReviews } from './targets/admission-reviews.ts'
import { formBodies, jsonBodies, msgpackBodies } from './targets/bodies.ts'
import { documents, manifests } from './targets/documents.ts'
import { expressions } from './targets/expressions.ts'
import { rawSocketFrames, webSocketFrames } from './targets/frames.ts'
import { jsonSchemas } from './targets/json-schemas.ts'
import { mediaTypes } from './targets/media-types.ts'
import { proxyHeaders } from './targets/proxy-headers.ts'
import { relayedMessages } from './targets/relayed-messages.ts'
import { requestHeads } from './targets/request-heads.ts'
import { responseHeads } from './targets/response-heads.ts'
import { resources } from './targets/resources.ts'
import { serviceEndpoints } from './targets/service-endpoints.ts'
import { upstreamResponses } from './targets/upstream-responses.ts'
import { upstreamSequences } from './targets/upstream-sequences.ts'
import { wampMessages } from './targets/wamp-messages.ts'
import { webSocketSwitches } from './targets/web-socket-switches.ts'

export const TARGETS: readonly FuzzTarget[] = [
  requestHeads,
  responseHeads,
  upstreamResponses,
  upstreamSequences,
  webSocketSwitches,
  proxyHeaders,
  mediaTypes,
  msgpackBodies,
  jsonBodies,
  formBodies,
  ...wampMessages,
  rawSocketFrames,
  webSocketFrames,
  ...relayedMessages,
  documents,
  manifests,
  resources,
  expressions,
  jsonSchemas,
  admissionReviews,
  serviceEndpoints,
]
