// Tests which schemes a path is served over, and that a redirect from http leaves https alone.

import { describe, expect, it } from '@jest/globals'
import { compiledPath, problemsOf, STATIC } from '../documents.ts'

describe('the schemes of a path', () => {
  it.each([
    [{}, {}, ['http', 'https']],
    [{ schemes: ['http'] }, {}, ['http']],
    [{ redirect_http: true }, {}, ['https', 'redirect_http']],
    [{ redirect_http: true, schemes: ['http', 'https'] }, {}, ['https', 'redirect_http']],
    [{}, { redirect_http: true }, ['https', 'redirect_http']],
    [{ redirect_http: false }, { redirect_http: true }, ['http', 'https']],
    [{ redirect_http: false, schemes: ['http'] }, { redirect_http: true }, ['http']],
  ])('%j below defaults %j are %j', (path, defaults, expected) => {
    const { schemes } = compiledPath({
      api: { defaults },
      paths: { '/x': { ...path, get: STATIC } },
    })
    expect(schemes).toEqual(expected)
  })

  it.each([
    [{ redirect_http: true, schemes: ['http'] }, {}, 'schemes', 'add https'],
    [{ schemes: ['http'] }, { redirect_http: true }, 'schemes', 'redirect_http: false'],
  ])('%j below defaults %j are refused', (path, defaults, key, message) => {
    const problems = problemsOf({
      api: { defaults },
      paths: { '/x': { ...path, get: STATIC } },
    })
    expect(problems).toMatchObject([
      {
        code: 'invalid_value',
        path: `/versions/v1/paths/~1x/${key}`,
        message: expect.stringContaining(message),
      },
    ])
  })
})
