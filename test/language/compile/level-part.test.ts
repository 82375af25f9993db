import { describe, expect, it } from '@jest/globals'
import {
  compileLevel,
  describeLevel,
  levelKeys,
  type LevelParts,
  levelParts,
} from '../../../language/compile/level-part.ts'
import { key } from '../../../language/schema/document-notation.ts'

interface Parts {
  readonly width: number
  readonly colour?: string
}

const ROWS: LevelParts<Parts, { readonly unit: number }> = {
  width: {
    keys: { width: key('Its width.') },
    compile: (written, { unit }) => Number(written('width').value ?? 1) * unit,
    describe: (width) => ({ width }),
  },
  colour: {
    keys: { colour: key('Its colour.'), color: key('Another spelling of colour.') },
    compile: (written) => {
      const { value, pointer } = written('colour')
      return value === undefined ? undefined : `${JSON.stringify(value)} at ${pointer}`
    },
    describe: (colour) => ({ colour }),
  },
}

describe('the parts of a level', () => {
  it('have the keys of all rows', () => {
    expect(Object.keys(levelKeys(ROWS))).toEqual(['width', 'colour', 'color'])
  })

  it.each<[string, Record<string, string | number>, Parts]>([
    ['all that is there', { width: 2, colour: 'red' }, { width: 20, colour: '"red" at /a/colour' }],
    ['nothing of a part that is missing', {}, { width: 10 }],
  ])('are compiled from %s', (_title, map, parts) => {
    expect(compileLevel(ROWS, map, '/a', { unit: 10 })).toStrictEqual(parts)
  })

  it('are picked out of what has more members', () => {
    const more = { width: 1, colour: undefined, name: 'x' } as unknown as Parts
    expect(levelParts(ROWS, more)).toStrictEqual({ width: 1 })
  })

  it.each<[string, Parts, object]>([
    ['under the names of documents', { width: 1, colour: 'red' }, { width: 1, colour: 'red' }],
    ['without one that is missing', { width: 1 }, { width: 1 }],
  ])('are described %s', (_title, parts, described) => {
    expect(describeLevel(ROWS, parts)).toStrictEqual(described)
  })
})
