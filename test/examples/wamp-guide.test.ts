// What the pages of WAMP say: its statuses are those of the table, and its two ways to verify a callback verify what
// the gateway signs, and nothing else.

import { spawnSync } from 'node:child_process'
import { env, execPath } from 'node:process'
import { describe, expect, it } from '@jest/globals'
import { signatureHeaders } from '../../dataplane/actions/wamp/callback/signature.ts'
import { STATUS_CODES } from '../../language/compile/status-codes.ts'
import { isRealRequired } from '../support/availability.ts'
import { guideOf, textOf } from '../support/pages.ts'

const GUIDE = guideOf('wamp')
const CALLBACKS = textOf('docs/wamp/callbacks.md')

const rows = [...GUIDE.matchAll(/^\| ((?:`[a-z_.…]+`(?:, )?)+) \| (\d{3}) \|/gm)].flatMap(
  ([, uris = '', status = '']) =>
    [...uris.matchAll(/`([a-z_.]+)`/g)].map(([, uri = '']) => [uri, Number(status)] as const),
)

describe('the table of errors', () => {
  it('is found', () => {
    expect(rows.length).toBeGreaterThan(12)
  })

  it.each(rows.filter(([uri]) => uri !== 'wamp.error.runtime_error'))('%s is %i', (uri, status) => {
    expect(STATUS_CODES[uri]).toBe(status)
  })
})

const snippet = (language: string): string =>
  new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(CALLBACKS)?.[1] ?? ''

const BODY = '{"args":["Ada"],"kwargs":{},"details":{}}'
const SECRET = 'tell-nobody'
const [, SIGNED = ''] = signatureHeaders({
  secret: SECRET,
  id: 'delivery-1',
  unixSeconds: 1000,
  body: Buffer.from(BODY),
})

/** Secret, header, body, now; and whether it is genuine. */
const CASES = [
  [SECRET, SIGNED, BODY, 1000, true],
  [SECRET, SIGNED, BODY, 1300, true],
  [SECRET, SIGNED, BODY, 1301, false],
  [SECRET, SIGNED, BODY, 699, false],
  ['another', SIGNED, BODY, 1000, false],
  [SECRET, SIGNED, `${BODY} `, 1000, false],
  [SECRET, SIGNED.replace('t=1000', 't=1001'), BODY, 1000, false],
  [SECRET, '', BODY, 1000, false],
  [SECRET, null, BODY, 1000, false],
  [SECRET, SIGNED.slice(0, -1), BODY, 1000, false],
] as const

const NODE = `${snippet('js')}
const cases = JSON.parse(process.env.CASES)
console.log(JSON.stringify(cases.map(([s, h, b, now]) => isGenuine(s, h, Buffer.from(b), now))))`

const PYTHON = `${snippet('python')}
import json, os
cases = json.loads(os.environ["CASES"])
print(json.dumps([is_genuine(s, h, b.encode(), now) for s, h, b, now, _ in cases]))`

const hasPython = isRealRequired() || spawnSync('python3', ['--version']).status === 0
if (!hasPython) process.stderr.write('skipped: there is no python3 to verify callbacks with\n')

describe('verifying a callback', () => {
  it.each([
    ['Node', execPath, ['--input-type=module', '-e', NODE]],
    ...(hasPython ? [['Python', 'python3', ['-c', PYTHON]] as const] : []),
  ] as const)('in %s', (_language, program, flags) => {
    const given = { ...env, NODE_OPTIONS: '', CASES: JSON.stringify(CASES) }
    const { stdout, stderr } = spawnSync(program, flags, { env: given, encoding: 'utf8' })
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toEqual(CASES.map(([, , , , isGenuine]) => isGenuine))
  })
})
