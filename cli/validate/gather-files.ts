// Reads every file that the operands of `validate`, `routes` and `explain` name. Validates nothing.

import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { messageOf } from '../../base/thrown.ts'
import { readText } from '../../operator/manifests/read-text.ts'
import { scanDirectory } from '../../operator/manifests/scan.ts'

export interface GatheredFile {
  readonly name: string
  readonly text: string
}

export type Gathered =
  | { readonly files: readonly GatheredFile[] }
  /** The problem, without the name of the command: exit 2. */
  | { readonly error: string }

const STDIN = '-'

/** Reads all manifests below a directory, and a file whatever its name. */
export const gatherFiles = async (
  operands: readonly string[],
  readStdin: () => Promise<string>,
): Promise<Gathered> => {
  const files: GatheredFile[] = []
  for (const operand of operands) {
    const gathered = await gather(operand, readStdin)
    if ('error' in gathered) return gathered
    files.push(...gathered.files)
  }
  return { files }
}

const gather = async (operand: string, readStdin: () => Promise<string>): Promise<Gathered> => {
  if (operand === STDIN) return { files: [{ name: '<stdin>', text: await readStdin() }] }
  try {
    const isDirectory = (await stat(operand)).isDirectory()
    return isDirectory ? await gatherDirectory(operand) : { files: [await readOne(operand)] }
  } catch (error) {
    const words = messageOf(error)
    return { error: `can't read ${operand}: ${words}` }
  }
}

const gatherDirectory = async (directory: string): Promise<Gathered> => {
  const scan = await scanDirectory(directory)
  if ('gone' in scan) return { error: scan.gone }
  if (scan.tooMuch !== undefined) return { error: scan.tooMuch }
  const files = await Promise.all(scan.files.map(({ path }) => readOne(join(directory, path))))
  return { files }
}

const readOne = async (name: string): Promise<GatheredFile> => ({
  name,
  text: await readText(name),
})
