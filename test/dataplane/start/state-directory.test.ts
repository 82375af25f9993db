import { describe, expect, it } from '@jest/globals'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { GatewaySettings } from '../../../dataplane/config.ts'
import { openSecurityState } from '../../../dataplane/start/security-state.ts'
import { StartError } from '../../../dataplane/start-error.ts'
import { Snapshot } from '../../../dataplane/store/snapshot/snapshot.ts'
import { openSnapshotFiles } from '../../../dataplane/store/snapshot/snapshot-files.ts'
import { createSilentLog } from '../../../telemetry/log.ts'
import { makeTempDir } from '../../support/temp-dir.ts'

const FUTURE = Date.now() / 1000 + 3600

const openAll = async (stateDir: string) => {
  const warnings: string[] = []
  const log = { ...createSilentLog(), warn: (message: string) => warnings.push(message) }
  const security = await openSecurityState({ stateDir } as GatewaySettings, log)
  const files = await openSnapshotFiles(stateDir)
  const snapshot = new Snapshot({ files, log, now: Date.now })
  const contents = await snapshot.load()
  return { security, snapshot, contents, warnings }
}

/** The files of a gateway that has keys, one revocation, two realms, and an owner with epoch 7. */
const prepare = async (stateDir: string): Promise<readonly string[]> => {
  const { security, snapshot } = await openAll(stateDir)
  await security.shared.revoke('ticket:1', FUTURE)
  await security.shared.close()
  const realms = ['com.a', 'com.b'].map((uri) => {
    const realm = { uri, digest: 'd', managedBy: 'op', record: { uri } }
    return [uri, realm] as const
  })
  const ownership = { manager: 'op', epoch: 7, complete: true }
  await snapshot.save({ documents: new Map(), realms: new Map(realms) }, ownership)
  await snapshot.close()
  return readdir(join(stateDir, 'loaded'))
}

/** What a start makes of the directory: everything as it was, something left out and a warning, or no start. */
const start = async (stateDir: string): Promise<string> => {
  try {
    const { security, contents, warnings } = await openAll(stateDir)
    const isRevoked = security.shared.isRevoked('ticket:1')
    await security.shared.close()
    const { manager, epoch, complete, entries } = contents
    const found = `${isRevoked ? 'revoked' : 'not revoked'}, ${manager ?? 'nobody'} ${epoch} ${complete ? 'complete' : 'incomplete'}, ${entries.length} realms`
    return warnings.length === 0 ? found : `${found}, ${warnings.length} warned of`
  } catch (error) {
    if (error instanceof StartError) return 'refused'
    throw error
  }
}

const WHOLE = 'revoked, op 7 complete, 2 realms'

type Damage = (content: Buffer) => Uint8Array

const DAMAGES = {
  empty: () => Buffer.alloc(0),
  zeroed: (content: Buffer) => Buffer.alloc(content.length),
  'zeroed in the middle': (content) =>
    Buffer.from(content).fill(0, content.length >> 2, content.length >> 1),
  'cut to a quarter': (content) => content.subarray(0, content.length >> 2),
  'with one bit flipped': (content) => {
    const at = content.length >> 2
    return Buffer.from(content).fill((content[at] ?? 0) ^ 1, at, at + 1)
  },
  'of another file': () => Buffer.from('# a file of somebody else\n'),
} satisfies Readonly<Record<string, Damage>>

type DamageName = keyof typeof DAMAGES

const ALL = Object.keys(DAMAGES) as readonly DamageName[]

/** Entries come back without the index, but their owner has to send it again. */
const WITHOUT_INDEX = 'revoked, nobody 0 incomplete, 2 realms, 1 warned of'
const WITHOUT_ENTRY = 'revoked, op 7 incomplete, 1 realms, 1 warned of'

const EXPECTED: Readonly<Record<string, string>> = {
  'shared/journal': 'refused',
  'keys/signing.json': 'refused',
  'keys/oidc-state.json': 'refused',
  'loaded/index': WITHOUT_INDEX,
  'loaded/realm-': WITHOUT_ENTRY,
}

describe('a state directory', () => {
  it('that is whole comes back as it was', async () => {
    await using dir = await makeTempDir()
    await prepare(dir.path)
    expect(await start(dir.path)).toBe(WHOLE)
    expect(await start(dir.path)).toBe(WHOLE)
  })

  it.each(
    Object.entries(EXPECTED).flatMap(([file, expected]) =>
      ALL.map((damage) => ({ file, damage, expected })),
    ),
  )('with $file $damage: $expected', async ({ file, damage, expected }) => {
    await using dir = await makeTempDir()
    const loaded = await prepare(dir.path)
    const entry = loaded.find((name) => name.startsWith('realm-')) ?? ''
    const path = join(dir.path, file.replace('realm-', entry))
    await writeFile(path, DAMAGES[damage](await readFile(path)))
    expect(await start(dir.path)).toBe(expected)
  })

  it.each(['shared/journal', 'keys/signing.json'])(
    'that is refused leaves %s as it is',
    async (file) => {
      await using dir = await makeTempDir()
      await prepare(dir.path)
      const path = join(dir.path, file)
      const damaged = DAMAGES.zeroed(await readFile(path))
      await writeFile(path, damaged)
      expect(await start(dir.path)).toBe('refused')
      expect((await readFile(path)).equals(damaged)).toBe(true)
    },
  )

  it.each([
    ['shared/journal', 'not revoked, op 7 complete, 2 realms, 1 warned of'],
    ['loaded/index', 'revoked, nobody 0 incomplete, 2 realms'],
    // New keys: whoever was logged in must log in again.
    ['keys/signing.json', WHOLE],
  ])('without %s: %s', async (file, expected) => {
    await using dir = await makeTempDir()
    await prepare(dir.path)
    await rm(join(dir.path, file))
    expect(await start(dir.path)).toBe(expected)
  })
})
