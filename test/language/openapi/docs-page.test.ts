import { createHash } from 'node:crypto'
import { describe, expect, it } from '@jest/globals'
import { docsPage } from '../../../language/openapi/docs-page.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import { readDocsFile } from '../../../web/docs-files.ts'

const pageOf = (description: ValueMap) => docsPage(description, (text) => `${text.length}`)

const sha256 = (content: string | Uint8Array, encoding: 'hex' | 'base64'): string =>
  createHash('sha256').update(content).digest(encoding)

const HOSTILE = `</script><script>owned()</script><!-- "'& {{request.id}} {{{x}}} \u2028`

describe('docsPage', () => {
  it('has one script that runs, which its policy names', () => {
    const { text, policy } = pageOf({ info: { title: HOSTILE, description: HOSTILE } })
    const scripts = [...text.matchAll(/<script([^>]*)>([^]*?)<\/script>/g)]
    expect(scripts.map(([, attributes]) => attributes)).toEqual([
      ' type="application/json" id="description"',
      '',
    ])
    const hash = sha256(scripts[1]?.[2] ?? '', 'base64')
    expect(policy).toContain(`script-src 'strict-dynamic' 'sha256-${hash}';`)
    expect(policy).not.toMatch(/unsafe-eval|script-src[^;]*unsafe-inline|https?:|connect-src/)
  })

  it('has the description as it is, without what begins an expression or an element', () => {
    const description = { info: { title: HOSTILE, description: HOSTILE } }
    const { text } = pageOf(description)
    expect(text).not.toContain('{{')
    const [, data = ''] = /id="description">([^]*?)<\/script>/.exec(text) ?? []
    expect(data).not.toContain('<')
    expect(JSON.parse(data)).toEqual(description)
    expect(text).toMatch(/<title>[^<>"'{]*<\/title>/)
  })

  it.each(pageOf({}).files)('loads $name as $as, which changes with its content', (file) => {
    const digest = sha256(readDocsFile(file.name), 'hex').slice(0, 16)
    expect(file.as).toMatch(new RegExp(`^swagger-ui-${digest}\\.(?:js|css)$`))
    expect(readDocsFile(file.name)).toBe(readDocsFile(file.name))
  })
})
