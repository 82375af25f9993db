// Reads the text of a file. Bytes that are not UTF-8 are rejected, not replaced, as otherwise a document would load that
// differs from what its author wrote.

import { readFile } from 'node:fs/promises'

/** @throws Error of the file system, or TypeError for bytes that are not UTF-8 */
export const readText = async (path: string): Promise<string> =>
  new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path))
