// Tests the exit codes, the counts and the formats of `svc validate`.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { diagnosticsForGitHub } from '../../cli/formats/github.ts'
import { diagnosticsAsJUnit } from '../../cli/validate/diagnostics-junit.ts'
import { diagnosticsAsSarif } from '../../cli/formats/sarif.ts'
import type { ValidationDiagnostic } from '../../cli/validate/validation-diagnostic.ts'
import { aSpecification } from '../support/resources.ts'
import { makeTempDir } from '../support/temp-dir.ts'
import { svc, type SvcRun } from './run-svc.ts'

const GOOD = `id: com.example.a
host: a.example.com
realm_uri: com.example
versions:
  v1:
    base_path: /v1
    paths: {/a: {get: {action: {type: static, body: hello}}}}
`
const REALM = `apiVersion: gateway.svc.dev/v1alpha1
kind: Realm
metadata: {name: example}
spec: {uri: com.example}
`
const BAD = GOOD.replace('type: static', 'type: statik')
const WITHOUT_REALM = 'RealmNotFound'
const STRICT = 'svc validate: this fails for warnings and notices, as --strict asks for\n'

describe('svc validate', () => {
  it.each<[string, readonly string[], string, readonly [number, string, string]]>([
    ['a good document', [], `${GOOD}---\n${REALM}`, [0, '', '1 document, 1 realm: 0 errors']],
    [
      'an error',
      [],
      `${BAD}---\n${REALM}`,
      [1, 'unsupported_action_type', '1 error, 0 warnings\n'],
    ],
    ['a notice', [], GOOD, [0, WITHOUT_REALM, '0 warnings, 1 notice\n']],
    ['a notice, with --strict', ['--strict'], GOOD, [1, WITHOUT_REALM, `1 notice\n${STRICT}`]],
    [
      'a warning, with --strict',
      ['--strict'],
      `${GOOD}color: red\n---\n${REALM}`,
      [1, 'UnknownProperty', `1 warning\n${STRICT}`],
    ],
    [
      'an error, with --strict, which needs no explanation',
      ['--strict'],
      `${BAD}---\n${REALM}`,
      [1, 'unsupported_action_type', '1 error, 0 warnings\n'],
    ],
    [
      'a warning in JUnit',
      ['-o', 'junit'],
      `${GOOD}color: red\n---\n${REALM}`,
      [0, 'failures="0"', '1 warning\n'],
    ],
    [
      'a warning in JUnit, with --strict',
      ['--strict', '-o', 'junit'],
      `${GOOD}color: red\n---\n${REALM}`,
      [1, 'failures="1"', `1 warning\n${STRICT}`],
    ],
    ['nothing', [], '', [2, 'EmptyFile', 'there is no document and no Realm in -\n']],
    [
      'other manifests',
      [],
      'apiVersion: v1\nkind: Service\nmetadata: {name: a}\n',
      [2, '', 'there is no document'],
    ],
    [
      'a broken file',
      [],
      'a: [',
      [1, 'invalid_yaml', '1 file with 0 documents, 0 realms: 1 error'],
    ],
  ])('%s', async (_, flags, stdin, [code, found, summary]) => {
    const run = await svc(['validate', ...flags, '-'], { stdin })
    expect(run).toMatchObject({ code })
    expect(run.stdout).toContain(found)
    expect(run.stderr).toContain(summary)
    expect(run.stderr.includes(STRICT)).toBe(summary.includes(STRICT))
  })

  it('names the files that it cannot read, and asks for some', async () => {
    expect(await svc(['validate', '/nowhere/at/all'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/^svc validate: can't read \/nowhere\/at\/all: /),
    })
    expect(await svc(['validate'])).toMatchObject({ code: 2 })
  })

  it('has the limit of routes that its flag sets', async () => {
    const get = { action: { type: 'static', body: 1 } }
    const stdin = JSON.stringify(
      aSpecification('a', {
        versions: { v1: { base_path: '/[v1]', paths: { '/[a]/[b]': { get } } } },
      }),
    )
    const withLimit = (limit: string): Promise<SvcRun> =>
      svc(['validate', '--max-routes', limit, '-'], { stdin })
    expect(await withLimit('8')).toMatchObject({ code: 0 })
    expect(await withLimit('7')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/8 routes, more than 7: .*max-routes/),
    })
  })

  it('colours diagnostics only for a terminal', async () => {
    const coloured = await svc(['validate', '-'], { stdin: BAD, isColoured: true })
    expect(coloured.stdout).toContain('\u001B[1;31m<stdin>:7:')
    expect((await svc(['validate', '-'], { stdin: BAD })).stdout).not.toContain('\u001B')
  })

  it('reads every manifest below a directory, and counts in JSON what it has read', async () => {
    await using dir = await makeTempDir()
    await mkdir(join(dir.path, 'below'))
    await writeFile(join(dir.path, 'below/a.yaml'), GOOD)
    await writeFile(join(dir.path, 'realm.yml'), REALM)
    const { code, stdout } = await svc(['validate', '-o', 'json', dir.path])
    expect(code).toBe(0)
    expect(JSON.parse(stdout)).toEqual({
      ok: true,
      files: 2,
      documents: 1,
      realms: 1,
      findings: [],
    })
  })
})

/** What a file is called and says comes from outside. */
const HOSTILE: ValidationDiagnostic = {
  severity: 'error',
  file: 'a,b:c%\n<d>.yaml',
  line: 3,
  column: 5,
  resource: 'ApiSpecification default/a',
  path: '/spec/document/host',
  code: 'invalid_value',
  message: 'two lines\n::error::forged\r\u0007 <&"]]> 100%',
}
const NOTICE: ValidationDiagnostic = {
  ...HOSTILE,
  severity: 'notice',
  file: './x/ü b.yaml',
  code: 'Kept',
}

describe('the formats', () => {
  it('github: one line for a diagnostic, which nothing in it can end', () => {
    expect(diagnosticsForGitHub([HOSTILE])).toEqual([
      '::error file=a%2Cb%3Ac%25%0A<d>.yaml,line=3,col=5,title=invalid_value::' +
        'ApiSpecification default/a /spec/document/host two lines%0A::error::forged%0D\u0007 <&"]]> 100%25',
    ])
  })

  it('sarif: rules once, places with lines and columns, paths as URIs', () => {
    expect(diagnosticsAsSarif([HOSTILE, HOSTILE, NOTICE])).toMatchObject({
      version: '2.1.0',
      runs: [
        {
          tool: { driver: { rules: [{ id: 'invalid_value' }, { id: 'Kept' }] } },
          results: [
            { ruleId: 'invalid_value', level: 'error' },
            {},
            {
              level: 'note',
              locations: [
                {
                  physicalLocation: {
                    artifactLocation: { uri: 'x/%C3%BC%20b.yaml' },
                    region: { startLine: 3, startColumn: 5 },
                  },
                },
              ],
            },
          ],
        },
      ],
    })
  })

  it('junit: a test for each file, well-formed whatever the files hold', () => {
    const names = [HOSTILE.file, NOTICE.file, 'good.yaml']
    const validation = { names, documents: 3, realms: 0, diagnostics: [HOSTILE, NOTICE] }
    const xml = diagnosticsAsJUnit(validation, ({ severity }) => severity === 'error')
    expect(xml).toContain('<testsuite name="svc validate" tests="3" failures="1">')
    expect(xml).toContain('name="a,b:c% &lt;d&gt;.yaml"')
    expect(xml).toContain('forged\\u000d\\u0007 &lt;&amp;&quot;]]&gt; 100%</failure>')
    expect(xml.match(/<testcase /g)).toHaveLength(3)
    expect(xml.match(/<system-out>/g)).toHaveLength(1)
    const strict = diagnosticsAsJUnit(validation, () => true)
    expect(strict).toContain('tests="3" failures="2"')
    expect(strict).toContain('<failure message="1 notice">notice at 3:5 ')
    expect(strict).not.toContain('<system-out>')
  })
})
