// Serves the files of the web page: HTML, style, scripts and icon. They hold no data, and load nothing from elsewhere.

import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'

export interface PageFile {
  readonly mediaType: string
  readonly bytes: Buffer
}

/**
 * The file that stands at a path; undefined: there is none.
 * @example findPageFile('/')?.mediaType // 'text/html; charset=utf-8'
 */
export const findPageFile = (path: string): PageFile | undefined => {
  const known = read.get(path)
  if (known !== undefined) return known
  const name = FILES.get(path)
  if (name === undefined) return undefined
  const [, extension = ''] = name.split('.')
  const bytes = readFileSync(join(import.meta.dirname, 'page', name))
  const file = { mediaType: MEDIA_TYPES[extension] ?? 'application/octet-stream', bytes }
  read.set(path, file)
  return file
}

export const sendPageFile = (
  response: ServerResponse,
  { mediaType, bytes }: PageFile,
  method: string | undefined,
): void => {
  response.writeHead(200, {
    ...PAGE_HEADERS,
    'content-type': mediaType,
    'content-length': bytes.length,
  })
  if (method === 'HEAD') response.end()
  else response.end(bytes)
}

/** Names of the files in `page/`, as they are at the paths `/page/NAME`. */
const SCRIPTS = [
  'api.js',
  'documents.js',
  'dom.js',
  'examples.js',
  'explain.js',
  'failures.js',
  'format.js',
  'gateways.js',
  'list.js',
  'main.js',
  'notices.js',
  'realms.js',
  'routes.js',
  'table.js',
] as const

/** Path → name in `page/`. */
const FILES: ReadonlyMap<string, string> = new Map([
  ['/', 'index.html'],
  ['/favicon.ico', 'favicon.ico'],
  ...['page.css', ...SCRIPTS].map((name): [string, string] => [`/page/${name}`, name]),
])

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  css: 'text/css; charset=utf-8',
  html: 'text/html; charset=utf-8',
  ico: 'image/x-icon',
  js: 'text/javascript; charset=utf-8',
}

/** What was read once: they do not change while a program runs. */
const read = new Map<string, PageFile>()

/** Texts of documents and requests are hostile: nothing but our own files runs, and no text becomes HTML. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self'",
  "worker-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ')

const PAGE_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': CONTENT_SECURITY_POLICY,
  // A page that opens this one in a window gets no handle of it.
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
} as const
