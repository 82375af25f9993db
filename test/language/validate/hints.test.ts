import { describe, expect, it } from '@jest/globals'
import { functionNames } from '../../../language/expression/functions/functions.ts'
import { DOCUMENT_SCHEMA } from '../../../language/validate/document-schema.ts'
import { ABSENT, hintFor, misspelling } from '../../../language/validate/name-hints.ts'
import { unitHint } from '../../../language/validate/unit-hints.ts'

describe('the hint about a number with its unit', () => {
  it.each([
    ['timeout', '5s', ' It is in milliseconds: write 5000.'],
    ['connect_timeout', '1.5 s', ' It is in milliseconds: write 1500.'],
    ['retry_timeout', '250ms', ' It is in milliseconds: write 250.'],
    ['timeout', '2m', ' It is in milliseconds: write 120000.'],
    ['body_read_seconds', '1m', ' It is in seconds: write 60.'],
    ['body_read_seconds', '300ms', ' It is in seconds: write 1.'],
    ['body_max_bytes', '10MB', ' It is in bytes: write 10000000.'],
    ['body_max_bytes', '1Mi', ' It is in bytes: write 1048576.'],
    ['timeout', '5 parsecs', ''],
    ['timeout', '5constructor', ''],
    ['timeout', 'soon', ''],
    ['retries', '5s', ''],
  ])('%s: %s', (property, text, hint) => {
    expect(unitHint(property, text)).toBe(hint)
  })
})

describe('the hint about a name', () => {
  it.each([
    ['respones', ['request', 'response'], "; did you mean 'response'?"],
    ['cors_policy', ['get'], "; pages of other origins are allowed by 'cors'"],
    ['rate_limit', [], "; how many requests may come is said by 'rate_limits'"],
    ['rateLimit', [], "; how many requests may come is said by 'rate_limits'"],
    ['upstream', [], "; where requests go is said by an action: type: forward, and its 'host'"],
    ['Authorization', ['get'], "; who may call is said by 'security'"],
    ['produces', [], "; media types are said by 'accepts'"],
    ['on_success', [], "; it is called 'on_result'"],
    ['constructor', [], ''],
    ['surprise', ['get'], ''],
  ] as const)('%s', (name, known, hint) => {
    const given = hintFor(name, known)
    expect(given.slice(0, hint.length)).toBe(hint)
    expect(given === '').toBe(hint === '')
  })

  it('never says of a name that documents may have that there is no such thing', () => {
    const known = [DOCUMENT_SCHEMA, ...Object.values(DOCUMENT_SCHEMA.$defs)]
      .flatMap(({ properties = {} }) => Object.keys(properties))
      .concat(DOCUMENT_SCHEMA.$defs['actionType']?.enum ?? [], functionNames())
      .map((name) => name.replaceAll(/[-_]/g, ''))
    expect(known.length).toBeGreaterThan(100)
    expect(known.filter((name) => Object.hasOwn(ABSENT, name))).toEqual([])
  })

  it('names what looks like the one that is missing', () => {
    expect(misspelling('base_path', ['paths', 'basepath'])).toBe(
      " Is 'basepath' a misspelling of it?",
    )
    expect(misspelling('base_path', ['paths'])).toBe('')
  })
})
