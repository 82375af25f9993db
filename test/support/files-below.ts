// Lists the files of a folder and of all folders in it.

import { readdirSync } from 'node:fs'
import { join } from 'node:path'

/** @param name of files that are listed, without their folder */
export const filesBelow = (folder: string, name: RegExp): readonly string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true }).flatMap((entry) =>
    entry.isFile() && name.test(entry.name) ? [join(entry.parentPath, entry.name)] : [],
  )
