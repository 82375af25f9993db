import { describe, expect, it } from '@jest/globals'
import { errorRecord } from '../../dataplane/error-record.ts'

describe('errorRecord', () => {
  it('has the keys of the specification; errors where there are any', () => {
    expect(errorRecord('a.b', 'c')).toEqual({ code: 'a.b', message: 'c', description: '' })
    const errors = [{ code: 'conflict', path: '/x', message: 'm' }] as const
    expect(errorRecord('a.b', 'c', 'd', errors)).toEqual({
      code: 'a.b',
      message: 'c',
      description: 'd',
      errors,
    })
  })

  it.each(['x', 'é', '€', '👍'])('is cut at 1 KiB of UTF-8: %s', (character) => {
    const { message, description } = errorRecord(
      'a',
      character.repeat(2000),
      character.repeat(2000),
    )
    for (const text of [message, description]) {
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1024)
      expect(Buffer.byteLength(text)).toBeGreaterThan(1010)
      expect(text.isWellFormed()).toBe(true)
      expect(text.endsWith('…')).toBe(true)
    }
  })

  it('leaves what fits', () => {
    expect(errorRecord('a', 'x'.repeat(1024)).message).toHaveLength(1024)
  })
})
