// Draws random ids and checks ids of WAMP (WAMP protocol, *IDs*). Remembers none of them.

const LARGEST_ID = 2 ** 53

export const isWampId = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= LARGEST_ID

/** In the global scope: sessions and publications; 48 bits are enough to avoid collisions. */
export const drawId = (randomBytes: (count: number) => Buffer): number =>
  randomBytes(6).readUIntBE(0, 6) + 1
