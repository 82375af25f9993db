import { describe, expect, it } from '@jest/globals'
import { createFindings } from '../../../language/compile/findings.ts'

describe('createFindings', () => {
  it('keeps the first message about a place and code, in order', () => {
    const findings = createFindings()
    findings.problem('invalid_value', '/a', 'first')
    findings.problem('invalid_value', '/a', 'second')
    findings.problem('invalid_datatype', '/a', 'another code')
    findings.report({ code: 'invalid_value', path: '/b', message: 'another place' })
    findings.warning('UnknownProperty', '/a', 'a warning')
    findings.warning('UnknownProperty', '/a', 'again')
    expect(findings.problems.map(({ message }) => message)).toEqual([
      'first',
      'another code',
      'another place',
    ])
    expect(findings.warnings).toEqual([
      { code: 'UnknownProperty', path: '/a', message: 'a warning' },
    ])
  })

  it('keeps at most 1000 of either kind', () => {
    const findings = createFindings()
    for (let index = 0; index < 1500; index++) {
      findings.problem('conflict', `/${index}`, '')
      findings.warning('Shadowed', `/${index}`, '')
    }
    expect([findings.problems.length, findings.warnings.length]).toEqual([1000, 1000])
  })

  it('keeps few of pointers that are megabytes long, but one at least', () => {
    const findings = createFindings()
    const key = 'x'.repeat(3_000_000)
    for (let index = 0; index < 100; index++) findings.problem('conflict', `/${key}/${index}`, '')
    expect(findings.problems).toHaveLength(2)
  })
})
