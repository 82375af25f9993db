// Tests the files of the web page: that all are served, as what they are, and that nothing in them could load or run
// anything else.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from '@jest/globals'
import { findPageFile } from '../../web/page-files.ts'

const FOLDER = join(import.meta.dirname, '../../web/page')
const SERVED = readdirSync(FOLDER).filter((name) => name !== 'tsconfig.json')

describe('the files of the page', () => {
  it.each(SERVED)('%s is served', (name) => {
    const paths = { 'index.html': '/', 'favicon.ico': '/favicon.ico' } as const
    const path = name in paths ? paths[name as keyof typeof paths] : `/page/${name}`
    expect(findPageFile(path)?.bytes).toEqual(readFileSync(join(FOLDER, name)))
  })

  it.each(['/page/', '/page/tsconfig.json', '/page/../page-files.ts', '/index.html', '//', ''])(
    'there is none at %j',
    (path) => {
      expect(findPageFile(path)).toBeUndefined()
    },
  )

  it.each(SERVED.filter((name) => name.endsWith('.js')))(
    '%s parses no markup, and stores nothing',
    (name) => {
      const code = readFileSync(join(FOLDER, name), 'utf8')
      expect(code).not.toMatch(
        /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|\beval\b|new Function|localStorage|sessionStorage|indexedDB|document\.cookie|serviceWorker|\bcaches\b|https?:\/\/(?!api\.acme|a\.test|me:)/,
      )
    },
  )

  it('texts in one element turn nothing round in another', () => {
    const css = readFileSync(join(FOLDER, 'page.css'), 'utf8')
    const [, selectors = ''] = /\n([^{}*]*)\{\s*unicode-bidi: isolate;/.exec(css) ?? []
    expect(selectors.split(',').map((each) => each.trim())).toEqual(
      expect.arrayContaining(['a', 'code', 'dd', 'small', 'span', 'td', 'th']),
    )
  })

  it('HTML and style have nothing inline that a policy would have to allow, and no foreign host', () => {
    const html = readFileSync(join(FOLDER, 'index.html'), 'utf8')
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|\bstyle=|<style|\bon\w+=|https?:|\/\/\w/)
    expect(readFileSync(join(FOLDER, 'page.css'), 'utf8')).not.toMatch(/url\(|@import/)
  })
})
