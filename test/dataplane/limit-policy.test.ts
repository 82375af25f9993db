import { describe, expect, it } from '@jest/globals'
import { createLimitPolicy } from '../../dataplane/limit-policy.ts'

const open = (isEnforced: boolean) => {
  const told: string[] = []
  const clock = { ms: 0 }
  const policy = createLimitPolicy({
    isEnforced,
    onExceeded: (limit) => told.push(`exceeded ${limit}`),
    onLetThrough: (limit) => told.push(`let through ${limit}`),
    now: () => clock.ms,
  })
  return { policy, told, clock }
}

describe('a limit that is new', () => {
  it('refuses, and counts what it refuses', () => {
    const { policy, told } = open(true)
    expect(policy.refuses('body_values')).toBe(true)
    expect(told).toEqual(['exceeded body_values'])
  })

  it('that only reports lets requests through, counts each and reports them once a minute', () => {
    const { policy, told, clock } = open(false)
    expect(policy.refuses('body_values')).toBe(false)
    expect(policy.refuses('body_values')).toBe(false)
    expect(policy.refuses('header_lines')).toBe(false)
    clock.ms = 60_000
    expect(policy.refuses('body_values')).toBe(false)
    expect(told).toEqual([
      'exceeded body_values',
      'let through body_values',
      'exceeded body_values',
      'exceeded header_lines',
      'let through header_lines',
      'exceeded body_values',
      'let through body_values',
    ])
  })
})
