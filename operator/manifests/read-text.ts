// A file in, its text out. What is no UTF-8 is refused, not mended: a document would load that nobody wrote.

import { readFile } from 'node:fs/promises'

/** @throws Error of the file system, or TypeError for bytes that are no UTF-8 */
export const readText = async (path: string): Promise<string> =>
  new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path))
