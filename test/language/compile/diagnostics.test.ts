import { describe, expect, it } from '@jest/globals'
import { createDiagnostics } from '../../../language/compile/diagnostics.ts'

describe('createDiagnostics', () => {
  it('keeps the first message about a place and code, in order', () => {
    const diagnostics = createDiagnostics()
    diagnostics.problem('invalid_value', '/a', 'first')
    diagnostics.problem('invalid_value', '/a', 'second')
    diagnostics.problem('invalid_datatype', '/a', 'another code')
    diagnostics.report({ code: 'invalid_value', path: '/b', message: 'another place' })
    diagnostics.warning('UnknownProperty', '/a', 'a warning')
    diagnostics.warning('UnknownProperty', '/a', 'again')
    expect(diagnostics.problems.map(({ message }) => message)).toEqual([
      'first',
      'another code',
      'another place',
    ])
    expect(diagnostics.warnings).toEqual([
      { code: 'UnknownProperty', path: '/a', message: 'a warning' },
    ])
  })

  it('keeps at most 1000 of either kind', () => {
    const diagnostics = createDiagnostics()
    for (let index = 0; index < 1500; index++) {
      diagnostics.problem('conflict', `/${index}`, '')
      diagnostics.warning('Shadowed', `/${index}`, '')
    }
    expect([diagnostics.problems.length, diagnostics.warnings.length]).toEqual([1000, 1000])
  })

  it('keeps few of pointers that are megabytes long, but one at least', () => {
    const diagnostics = createDiagnostics()
    const key = 'x'.repeat(3_000_000)
    for (let index = 0; index < 100; index++)
      diagnostics.problem('conflict', `/${key}/${index}`, '')
    expect(diagnostics.problems).toHaveLength(2)
  })
})
