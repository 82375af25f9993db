// Creates an empty directory, which is removed with its contents when it is disposed of. It never touches a directory
// that it has not created.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface TempDir extends AsyncDisposable {
  readonly path: string
}

/**
 * @example
 * await using dir = await makeTempDir()
 * await writeFile(join(dir.path, 'token'), 'secret')
 */
export const makeTempDir = async (): Promise<TempDir> => {
  const path = await mkdtemp(join(tmpdir(), 'svc-gateway-test-'))
  return {
    path,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  }
}
