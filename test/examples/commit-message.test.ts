// Checks which subjects of commits the hook lets pass (`.githooks/commit-msg`).

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from '@jest/globals'
import { makeTempDir } from '../support/temp-dir.ts'

const HOOK = join(import.meta.dirname, '../../.githooks/commit-msg')

/** What the hook says first; '' where it lets the message pass. */
const check = async (message: string): Promise<string> => {
  await using directory = await makeTempDir()
  const file = join(directory.path, 'message')
  writeFileSync(file, message)
  const { status, stderr } = spawnSync('sh', [HOOK, file], { encoding: 'utf8' })
  expect(status).toBe(stderr === '' ? 0 : 1)
  return stderr.split('\n')[0] ?? ''
}

const FORM =
  "commit-msg: the subject must read 'type(scope): imperative subject', without a full stop"
const verb = (word: string): string =>
  `commit-msg: the subject must begin with a verb in the imperative ('bound the queue of …'), not with '${word}'`

it.each([
  ['fix(wamp): wait for the first session instead of failing\n\nWhy.', ''],
  ['feat: add a command', ''],
  ['feat(http)!: refuse two Host headers', ''],
  ['# a comment\ndocs(docs): say who has a path after an edit', ''],
  ["Merge branch 'main' into balance", ''],
  ['fixup! fix(wamp): wait', ''],
  ['fix(wamp): a session waits', verb('a')],
  ['fix(wamp): waits for a session', verb('waits')],
  ['fix(wamp): Wait for a session', verb('Wait')],
  ['test(oidc): -- a spoilt secret', verb('--')],
  ['test(oidc): .* a spoilt secret', verb('.*')],
  ['fix(wamp): wait for a session.', FORM],
  ['fix(somewhere): wait for a session', FORM],
  ['repair(wamp): wait for a session', FORM],
  ['wait for a session', FORM],
  [`fix(wamp): wait ${'x'.repeat(60)}`, 'commit-msg: the subject is longer than 72 characters'],
])('of %j says %j', async (message, said) => {
  expect(await check(message)).toBe(said)
})
