// Widens integers beyond 32 bits for the binary formats, whose encoders would write them as doubles. Routers compare
// ids of up to 2^53 as integers, and some end the session for a double.

const MAX_ID = 2 ** 53

/** BigInts are written as 64-bit integers; anything else stays as it is. */
export const widenInteger = (value: Uint8Array | number | string): unknown =>
  typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= MAX_ID
    ? BigInt(value)
    : value
