import { describe, expect, it } from '@jest/globals'
import { compiledGet } from '../documents.ts'
import { preflightText } from '../../../language/explain/explain-cors.ts'

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
    const allowed = cors?.methods ?? ['GET', 'OPTIONS']
    expect(cors && preflightText(cors, { origin, method }, allowed)).toMatch(text)
  })
})
