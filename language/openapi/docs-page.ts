// Writes the page on which people read an OpenAPI description. What documents say is hostile there: it is data within the
// page, and no script runs but those of the gateway.

import type { DocsPage } from '../compile/description.ts'
import { textAt } from '../expression/members.ts'
import { isMap, type ValueMap } from '../expression/value.ts'

/** As the package `swagger-ui-dist` has them; a test computes their digests. */
const FILES = {
  script: { name: 'swagger-ui-bundle.js', as: 'swagger-ui-e6a898692f2d768e.js' },
  style: { name: 'swagger-ui.css', as: 'swagger-ui-5ed08757e53da3e0.css' },
} as const

/**
 * What loads them: by whole addresses, as the page is also served with a slash at its end. It sends no request, so there is
 * nothing to try out.
 */
const LOADER = `
const below = location.origin + location.pathname.replace(/\\/$/, '')
const style = document.createElement('link')
style.rel = 'stylesheet'
style.href = below + '/${FILES.style.as}'
const script = document.createElement('script')
script.src = below + '/${FILES.script.as}'
script.onload = () => SwaggerUIBundle({
  spec: JSON.parse(document.getElementById('description').textContent),
  dom_id: '#docs',
  supportedSubmitMethods: [],
  validatorUrl: null,
})
document.head.append(style, script)
`

/** SHA-256 of the loader, which alone may run and load a script; a test computes it. */
const LOADER_HASH = 'rJ/gE1mkTDQUuH5MYA4+6qZ6n5HdpCGEk98m0hETInI='

/** Inline styles are Swagger UI's own. Images of others would tell them who reads the page. */
const POLICY = [
  "default-src 'none'",
  `script-src 'strict-dynamic' 'sha256-${LOADER_HASH}'`,
  "style-src 'self' 'unsafe-inline'",
  'img-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Braces side by side would begin an expression. */
const asMarkup = (text: string): string =>
  text.replaceAll(/[&<>"'{]/g, (character) => `&#${character.charCodeAt(0)};`)

/** Within JSON these stand in texts alone, and mean the same there when they are escaped. */
const asData = (json: string): string =>
  json.replaceAll('<', String.raw`\u003c`).replaceAll('{{', String.raw`{\u007b`)

/**
 * @param tagOf gives the same for the same text
 * @example docsPage({ openapi: '3.1.0', info: { title: 'Orders' } }, tagOf).files.length // 2
 */
export const docsPage = (description: ValueMap, tagOf: (text: string) => string): DocsPage => {
  const { info = null } = description
  const title = isMap(info) ? textAt(info, 'title') : ''
  const text = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${asMarkup(title)}</title>
<link rel="icon" href="data:,">
</head>
<body>
<noscript>This page shows an OpenAPI description by a script.</noscript>
<div id="docs"></div>
<script type="application/json" id="description">${asData(JSON.stringify(description))}</script>
<script>${LOADER}</script>
</body>
</html>
`
  return { text, tag: tagOf(text), policy: POLICY, files: Object.values(FILES) }
}
