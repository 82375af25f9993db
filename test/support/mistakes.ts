// Puts mistakes into a document without any, and says what `validate` finds.

import { validateFiles } from '../../cli/validate/validate-files.ts'

export const DOCUMENT = `id: orders
host: api.test
realm_uri: com.acme
variables:
  backend: http://backend.test:8080
  limit: 10
versions:
  v1:
    base_path: /v1
    paths:
      /items/:id:
        get:
          action:
            type: forward
            host: '{{variables.backend}}'
            path: /items/{{request.bindings.id}}
            timeout: 5000
          response:
            on_result:
              status_code: 200
`

export const REALM = `apiVersion: gateway.svc.dev/v1alpha1
kind: Realm
metadata: {name: acme}
spec:
  uri: com.acme
`

/** What is replaced in the document, by what, and the diagnostics: `line:column severity code message`. */
export type Mistake = readonly [
  title: string,
  right: string | RegExp,
  wrong: string,
  diagnostics: readonly string[],
]

/** @throws Error where the document has nothing to replace */
export const withMistake = (right: string | RegExp, wrong: string): string => {
  const text = DOCUMENT.replace(right, () => wrong)
  if (text === DOCUMENT) throw new Error(`nothing to replace: ${String(right)}`)
  return text
}

/** Diagnostics about the document; those about the realm begin with its file. */
export const diagnosticsOf = (document: string, realm = REALM): readonly string[] =>
  validateFiles([
    { name: 'document.yaml', text: document },
    { name: 'realm.yaml', text: realm },
  ]).diagnostics.map(({ file, line, column, severity, code, message }) => {
    const place = `${line}:${column} ${severity} ${code} ${withoutLists(message)}`
    return file === 'document.yaml' ? place : `${file}:${place}`
  })

/** Each new action or function makes these lists longer: golden files of compiling have the whole ones. */
const withoutLists = (message: string): string =>
  message
    .replace(/static, forward(?:, \w+(?=[,:]))+/, 'static, forward, …')
    .replace(/integer, float(?:, [\w:]+)+/, 'integer, float, …')
