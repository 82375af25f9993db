// What the playground reads out of the comments of a manifest.

import { describe, expect, it } from '@jest/globals'
import { readTries } from '../../dev/manifest-tries.ts'

describe('readTries', () => {
  it('takes the first comment as title, and commands with what must come back', () => {
    const text = [
      '# Says hello.',
      '#',
      '# Words about curl are no command.',
      '#',
      '#   curl -i http://a/x',
      '#   -> 200 … hello',
      '#',
      "#   printf 'x' | curl -i http://a/y --data-binary @-",
      '#',
      '#   http://a/page',
      '# http://a/no-page',
      '#',
      'kind: Realm',
    ].join('\n')
    expect(readTries(text)).toEqual({
      title: 'Says hello',
      tries: [
        { command: 'curl -i http://a/x', expected: '200 … hello' },
        { command: "printf 'x' | curl -i http://a/y --data-binary @-", expected: '' },
      ],
      pages: ['http://a/page'],
    })
  })

  it.each(['', 'kind: Realm\n', 'text: "curl -i http://a/"\n'])('%j has none', (text) => {
    expect(readTries(text)).toEqual({ title: '', tries: [], pages: [] })
  })
})
