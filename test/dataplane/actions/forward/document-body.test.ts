// Bodies that a document sends to an upstream.

import { expect, it } from '@jest/globals'
import { prepareDocumentBody } from '../../../../dataplane/actions/forward/document-body.ts'
import { ExpressionError } from '../../../../language/expression/errors.ts'
import type { Template } from '../../../../language/expression/template.ts'
import { contextOf } from '../../../language/expression/scope-of.ts'

it.each(['application/x-www-form-urlencoded', 'application/json', 'text/plain'])(
  'a body that names one large value many times is bounded as %s',
  (type) => {
    const write = (count: number) => {
      const read: Template = { kind: 'read', root: 'request', keys: ['body'] }
      const entries = Array.from({ length: count }, (_, at) => [`k${at}`, read] as const)
      const context = contextOf({ request: { body: 'x'.repeat(2 ** 20) } })
      return prepareDocumentBody({ kind: 'map', entries })(context, type).bytes?.length
    }
    expect(write(31)).toBeGreaterThan(31 * 2 ** 20)
    expect(() => write(33)).toThrow(ExpressionError)
  },
)
