// Checks out an earlier commit into a directory from which its programs run, with the packages that are installed here.
// Where the history is missing, it says so instead.

import { mkdir, readlink, rename, rm, symlink } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { env } from 'node:process'
import { demandCommand, runCommand } from './kubernetes/run-command.ts'
import { whileLocked } from './routers/build-lock.ts'
import { cacheDirectory } from './routers/recipe.ts'

/**
 * What versions before this one are taken to be: the last release, once there are any. Another one for this run:
 * `OLDER_COMMIT`.
 */
const OLDER_COMMIT = env['OLDER_COMMIT'] ?? '3e3dd6bb6321f57431a1f7b4ffb848377b088c68'

const ROOT = join(import.meta.dirname, '../..')

export interface OlderVersion {
  readonly commit: string
  /** Its tree. */
  readonly directory: string
  /** Main modules of its programs. */
  readonly gateway: string
  readonly operator: string
  readonly chart: string
}

/**
 * Laid out once, in the cache. Undefined where the commit is not there: in a shallow clone, or an archive.
 * @example const older = await olderVersion()
 */
export const olderVersion = async (commit = OLDER_COMMIT): Promise<OlderVersion | undefined> => {
  const asked = await git('rev-parse', '--verify', '--quiet', `${commit}^{commit}`)
  const hash = asked.stdout.trim()
  if (asked.code !== 0 || hash === '') return undefined
  const parent = cacheDirectory('test-older')
  const directory = join(parent, hash)
  await mkdir(parent, { recursive: true })
  await whileLocked(`${directory}.lock`, () => layOut(hash, directory), { patienceMs: 60_000 })
  return {
    commit: hash,
    directory,
    gateway: join(directory, 'dataplane/main.ts'),
    operator: join(directory, 'operator/main.ts'),
    chart: join(directory, 'helm/svc-gateway'),
  }
}

/** In plain sight, where such tests are skipped. */
export const tellOfNoHistory = (what: string): void => {
  process.stderr.write(`skipped: ${what}: the history of this checkout lacks ${OLDER_COMMIT}\n`)
}

const git = (...args: readonly string[]): ReturnType<typeof runCommand> =>
  runCommand({ program: 'git', args: ['-C', ROOT, ...args] })

const layOut = async (hash: string, directory: string): Promise<void> => {
  if (!existsSync(directory)) {
    const work = `${directory}.new`
    await rm(work, { recursive: true, force: true })
    await mkdir(work)
    const archive = join(work, 'tree.tar')
    await demandCommand({ program: 'git', args: ['-C', ROOT, 'archive', '-o', archive, hash] })
    await demandCommand({ program: 'tar', args: ['-C', work, '-xf', archive] })
    await rm(archive)
    await rename(work, directory)
  }
  // Of the checkout that asks: another one may have gone.
  const modules = join(directory, 'node_modules')
  const wanted = join(ROOT, 'node_modules')
  if ((await readlink(modules).catch(() => '')) === wanted) return
  // At once: a program of another test may be about to load from there.
  const next = `${modules}.next`
  await rm(next, { force: true })
  await symlink(wanted, next)
  await rename(next, modules)
}
