// Tests `svc test`: what it prints, its exit codes, and where it says that a failure is.

import { describe, expect, it } from '@jest/globals'
import { svc } from './run-svc.ts'

const apiWith = (operation: string): string => `id: com.example.orders
host: api.example.com
realm_uri: com.example
versions:
  v1:
    base_path: /v1
    paths:
      /orders/:id:
        get:
          action: {type: forward, host: 'http://orders:8080'}
          ${operation}
`
const PASSES = apiWith(`examples:
            found:
              request: {bindings: {id: 7}}
              given: {body: {id: 7}}
              expect: {status_code: 200, body: {id: 7}, sent: {url: 'http://orders:8080/v1/orders/7'}}`)
const FAILS = PASSES.replace('expect: {status_code: 200', 'expect: {status_code: 201')
const WITHOUT = apiWith('info: Nothing is shown.')

const SECRET_VALUE = 'sesame-open-"quoted"'
const WITH_SECRET = `apiVersion: gateway.svc.dev/v1alpha1
kind: ApiSpecification
metadata: {name: orders}
spec:
  variablesFrom: [{name: token, secretRef: {name: upstream, key: token}}]
  document:
    id: com.example.orders
    host: api.example.com
    realm_uri: com.example
    versions:
      v1:
        base_path: /
        paths:
          /a:
            get:
              action: {type: forward, host: 'http://orders', headers: {x-token: '{{variables.token}}'}}
              examples:
                one: {given: {body: a}, expect: {sent: {headers: {x-token: wrong}}}}
`
const SECRET = `---
apiVersion: v1
kind: Secret
metadata: {name: upstream}
stringData: {token: '${SECRET_VALUE}'}
`

const test = (stdin: string, ...flags: readonly string[]) => svc(['test', ...flags, '-'], { stdin })

describe('svc test', () => {
  it('prints nothing of examples that pass', async () => {
    expect(await test(PASSES)).toEqual({
      code: 0,
      stdout: '',
      stderr: '1 example: 1 passed, 0 failed\n',
    })
  })

  it('says where an example differs, and how', async () => {
    expect(await test(FAILS)).toEqual({
      code: 1,
      stdout: `<stdin>:12:13 GET /v1/orders/:id 'found'
  <stdin>:15:37 expect.status_code: expected (-), but came (+)
    - 201
    + 200
`,
      stderr: '1 example: 0 passed, 1 failed\n',
    })
  })

  it('lists operations without examples, which is no failure beside others', async () => {
    const more = PASSES.replace(
      '        get:',
      '        put: {action: {type: static, body: a}}\n        get:',
    )
    expect(await test(more)).toEqual({
      code: 0,
      stdout: '',
      stderr:
        'no example: <stdin>:9:14 PUT /v1/orders/:id\n1 example: 1 passed, 0 failed; 1 operation has none\n',
    })
  })

  it.each<[string, string, string]>([
    ['no example', WITHOUT, "there is no example in -: write 'examples' in an operation"],
    ['no operand', '', 'name the files with examples, or - for stdin'],
  ])('could do nothing with %s', async (_name, stdin, words) => {
    const { code, stderr } = await (stdin === '' ? svc(['test']) : test(stdin))
    expect([code, stderr]).toEqual([2, expect.stringContaining(`svc test: ${words}\n`)])
  })

  it('does not run a document with errors, and says which', async () => {
    const { code, stderr } = await test(PASSES.replace('type: forward', 'type: foreward'))
    expect(code).toBe(1)
    expect(stderr).toContain('left out: <stdin>:10:26')
  })

  it('gives data', async () => {
    const { code, stdout } = await test(FAILS, '-o', 'json')
    expect([code, JSON.parse(stdout)]).toEqual([
      1,
      {
        examples: [
          {
            document: 'com.example.orders',
            operation: 'GET /v1/orders/:id',
            name: 'found',
            place: '<stdin>:12:13',
            failures: [
              {
                place: '<stdin>:15:37',
                member: 'expect.status_code',
                message: 'expected (-), but came (+)',
                diff: ['- 201', '+ 200'],
              },
            ],
          },
        ],
        skipped: [],
        without: [],
        leftOut: [],
      },
    ])
  })

  it('gives a JUnit report', async () => {
    const { code, stdout } = await test(FAILS, '-o', 'junit')
    expect(code).toBe(1)
    expect(stdout).toContain('<testsuite name="svc test" tests="1" failures="1">')
    expect(stdout).toContain(
      'name="com.example.orders GET /v1/orders/:id &apos;found&apos;"'.replaceAll('&apos;', "'"),
    )
    expect(stdout).toContain('<failure message="&lt;stdin&gt;:12:13">')
  })

  it.each([[[]], [['-o', 'json']], [['-o', 'junit']]])(
    'prints the name of a variable of a Secret in place of its value, with %j',
    async (flags) => {
      const { code, stdout, stderr } = await test(WITH_SECRET + SECRET, ...flags)
      expect(code).toBe(1)
      expect(stdout).toContain('(variables.token)')
      expect(stdout + stderr).not.toContain('sesame')
    },
  )

  it.each([
    ['Basic {{variables.token |> base64:encode}}', 'sesame'],
    ['Basic {{variables.account |> base64:encode}}', 'c3Zj'],
    ['Bearer {{variables.token |> base64:encode}}', 'c2VzYW1l'],
  ])('prints nothing of a credential that is made of it: %s', async (value, part) => {
    const header = `authorization: "${value}"`
    const text = (WITH_SECRET + SECRET)
      .replace("x-token: '{{variables.token}}'", header)
      .replace('x-token: wrong', 'authorization: wrong')
      .replace(
        '    versions:',
        "    variables: {account: 'svc:{{variables.token}}'}\n    versions:",
      )
    for (const example of [text, text.replace('given: {body: a}, ', '')]) {
      const { code, stdout, stderr } = await test(example)
      expect([code, stdout]).toEqual([
        1,
        expect.stringMatching(/expect\.sent\.headers\.authorization/),
      ])
      expect(stdout + stderr).not.toContain(part)
    }
  })

  it('takes a value that no Secret among the files has from --set', async () => {
    const { code, stderr } = await test(WITH_SECRET, '--set', 'token=wrong')
    expect([code, stderr]).toEqual([0, '1 example: 1 passed, 0 failed\n'])
  })

  it('does not repeat a --set that it cannot read', async () => {
    const { code, stderr } = await test(WITH_SECRET, '--set', 'sesame')
    expect([code, stderr]).toEqual([
      2,
      'svc test: --set takes NAME=VALUE, such as --set api_key=abc\n',
    ])
  })
})
