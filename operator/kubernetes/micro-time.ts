// Writes times as the Kubernetes API's MicroTime.

/**
 * RFC 3339 with six digits of a second: the API takes no other form of a MicroTime.
 * @example microTime(0) // '1970-01-01T00:00:00.000000Z'
 */
export const microTime = (timeMs: number): string =>
  new Date(timeMs).toISOString().replace('Z', '000Z')
