import { describe, expect, it } from '@jest/globals'
import { compiledGet } from '../documents.ts'
import { isWiderCors, preflightText } from '../../../language/explain/explain-cors.ts'

const A = 'https://a.test'

describe('the explanation of a preflight', () => {
  it.each<[string, object, string, string, RegExp]>([
    ['is allowed the methods of the path', {}, A, 'GET', /may use GET, OPTIONS$/],
    ['is allowed those of cors', { allowed_methods: ['PUT'] }, A, 'PUT', /may use PUT$/],
    ['of another origin is allowed nothing', {}, 'https://b.test', 'GET', /none of its origins/],
    ['for another method is allowed nothing', {}, A, 'PUT', /GET, OPTIONS only/],
    ['may be of every origin', { origins: ['*'] }, 'null', 'GET', /may use/],
  ])('%s', (_, ...[more, origin, method, text]) => {
    const get = { action: { type: 'static', body: 'x' } }
    const { cors } = compiledGet({ paths: { '/x': { cors: { origins: [A], ...more }, get } } })
    expect(cors && preflightText(cors, { origin, method }, 'GET, OPTIONS')).toMatch(text)
  })
})

describe('cors', () => {
  it.each<[string, string, string, boolean]>([
    ['of another origin is wider', A, 'https://b.test', true],
    ['of one more is wider', A, `${A}, https://b.test`, true],
    ['of all is wider', A, '*', true],
    ['where there was none is wider', '', A, true],
    ['with credentials is wider', A, `${A} with credentials`, true],
    ['of one less is not', `${A}, https://b.test`, A, false],
    ['of one instead of all is not', '*', A, false],
    ['without credentials is not', `${A} with credentials`, A, false],
    ['that goes is not', A, '', false],
  ])('%s', (_, before, after, wider) => {
    expect(isWiderCors(before, after)).toBe(wider)
  })
})
