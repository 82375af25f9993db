// Hashes a text, or a part of one, without creating a string; each process hashes in its own way. It is a weak hash: a
// table of what clients send must bound how many equal hashes a lookup compares.

/** Random, so that no client can prepare texts that collide. */
const SEED = crypto.getRandomValues(new Int32Array(1))[0] ?? 0

/**
 * FNV-1a over UTF-16 units, mixed once more, as the low bits decide most.
 * @returns 30 bits, which V8 holds without an object
 * @example hashText('/users/42', 1, 6) === hashText('users', 0, 5) // true
 */
export function hashText(text: string, from: number, to: number): number {
  let hash = SEED
  for (let at = from; at < to; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  }
  return (hash ^ (hash >>> 15)) & 0x3fffffff
}
