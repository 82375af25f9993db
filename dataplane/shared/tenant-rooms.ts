// Keeps entries of rate limits by the keys of their buckets, bounded for each tenant, so that one who invents keys takes no room
// from others.

/** Where an entry belongs. */
export interface BucketPlace {
  /** Names the bucket: a hash, so that long values cost no more than short ones. */
  readonly key: string
  /** Whose buckets are counted together: a namespace, or a document that belongs to none. */
  readonly tenant: string
  /** `caller`: a caller who was verified decides the key; `anyone`: whoever sends a request may invent it. */
  readonly room: 'anyone' | 'caller'
}

export interface RoomBounds {
  /** Entries in each of the two rooms of a tenant. */
  readonly perRoom: number
  readonly inAll: number
  /** A room may always have so many, whatever others have. */
  readonly reserved: number
}

/** Buckets take some 40 MB. */
const BOUNDS: RoomBounds = { perRoom: 50_000, inAll: 200_000, reserved: 1000 }

export class TenantRooms<Entry> {
  readonly #bounds: RoomBounds
  readonly #isIdle: (entry: Entry) => boolean
  readonly #rooms = new Map<string, Map<string, Entry>>()
  #size = 0

  /** @param isIdle whether an entry says no more than none would, so that it can be dropped */
  constructor(isIdle: (entry: Entry) => boolean, bounds: RoomBounds = BOUNDS) {
    this.#isIdle = isIdle
    this.#bounds = bounds
  }

  get size(): number {
    return this.#size
  }

  get(place: BucketPlace): Entry | undefined {
    return this.#rooms.get(nameOf(place))?.get(place.key)
  }

  /** Whether one more may be set there. Idle ones are dropped for it. */
  hasRoom(place: BucketPlace): boolean {
    const room = this.#rooms.get(nameOf(place))
    if (room === undefined) return true
    this.#size -= dropIdle(room, this.#isIdle)
    const { perRoom, inAll, reserved } = this.#bounds
    if (this.#size >= inAll) this.#dropElsewhere()
    return room.size < reserved || (room.size < perRoom && this.#size < inAll)
  }

  /** Looks at one room after the other: those to which nobody adds keep what is idle. */
  #dropElsewhere(): void {
    const [next] = this.#rooms
    if (next === undefined) return
    const [name, room] = next
    this.#rooms.delete(name)
    this.#size -= dropIdle(room, this.#isIdle)
    if (room.size > 0) this.#rooms.set(name, room)
  }

  /** Adds an entry that is not there. */
  add(place: BucketPlace, entry: Entry): void {
    const name = nameOf(place)
    const room = this.#rooms.get(name) ?? new Map<string, Entry>()
    this.#rooms.set(name, room)
    room.set(place.key, entry)
    this.#size++
  }
}

const nameOf = ({ tenant, room }: BucketPlace): string => `${room} ${tenant}`

/** Two of the oldest are looked at for each new one: that is enough to find all that are idle, and never takes long. */
export const dropIdle = <Entry>(
  room: Map<string, Entry>,
  isIdle: (entry: Entry) => boolean,
): number => {
  let dropped = 0
  let looked = 0
  for (const [key, entry] of room) {
    if (looked++ === 2) break
    room.delete(key)
    if (isIdle(entry)) dropped++
    else room.set(key, entry)
  }
  return dropped
}
