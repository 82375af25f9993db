import { expect, it } from '@jest/globals'
import { composeLines } from '../../../../dataplane/http/response/write-response.ts'

const linesOf = (value: string): string | undefined =>
  composeLines(
    { status: 200, headers: [['x-a', value]], contentType: undefined, body: '' },
    { requestId: 'id', language: undefined, deprecation: undefined, vary: undefined },
  )

it('a value beyond Latin-1, of which a byte could end the line, is left to node, which refuses it', () => {
  expect(linesOf('\u010d\u010a')).toBeUndefined()
  expect(linesOf('\xc4')).toContain('x-a: \xc4\r\n')
})
