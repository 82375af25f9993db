// Writes the files of a Secret into a folder as a kubelet mounts them: links by way of `..data`, which changes at once.

import { mkdir, rename, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

export interface MountedSecret {
  /** Replaces all files at once. */
  readonly update: (files: Readonly<Record<string, string>>) => Promise<void>
}

/** @example await (await mountSecret(join(dir.path, 'shop'), { 'tls.crt': cert, 'tls.key': key })).update(…) */
export const mountSecret = async (
  folder: string,
  files: Readonly<Record<string, string>>,
): Promise<MountedSecret> => {
  let versions = 0
  const update = async (next: Readonly<Record<string, string>>): Promise<void> => {
    const version = `..${(versions += 1)}`
    await mkdir(join(folder, version))
    for (const [name, text] of Object.entries(next))
      await writeFile(join(folder, version, name), text)
    await symlink(version, join(folder, '..next'))
    await rename(join(folder, '..next'), join(folder, '..data'))
  }
  await mkdir(folder, { recursive: true })
  await update(files)
  for (const name of Object.keys(files)) await symlink(join('..data', name), join(folder, name))
  return { update }
}
