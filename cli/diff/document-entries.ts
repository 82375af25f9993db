// Takes documents apart into what is compared: hosts, routes and versions. Joined are routes by what a client sends, so that
// a path which moves to another document, or whose bindings have other names, is the same. Pure.

import { childPointer } from '../../base/json-pointer.ts'
import {
  describeDocument,
  type FoldedDocument,
  type FoldedPath,
  type FoldedVersion,
} from '../../language/explain/fold-document.ts'
import type { OperationDescription } from '../../language/explain/describe-operation.ts'
import {
  actionText,
  builtInRows,
  type RouteRow,
  securityText,
} from '../../language/explain/list-routes.ts'
import { revealTemplate } from '../../language/explain/write-template.ts'
import { isList, isMap, type Value, type ValueMap } from '../../language/expression/value.ts'
import type { DocumentOfFile } from '../explain/read-documents.ts'
import type { Entry } from './entry.ts'

type Documents = readonly Pick<DocumentOfFile, 'folded' | 'compiled' | 'placeOf'>[]

/** @param hasRouter whether a realm has a router, so that its documents have a WebSocket */
export const entriesOfDocuments = (
  documents: Documents,
  hasRouter: (realmUri: string) => boolean,
): readonly Entry[] => {
  const entries = documents.flatMap(({ folded, compiled, placeOf }) => {
    const full = describeDocument(compiled, revealTemplate)
    return folded.versions.flatMap((version, at) => {
      const revealed = full.versions[at]
      if (!version.isActive || revealed === undefined) return []
      const routes = routesOf(version, revealed, folded, placeOf)
      const builtIn = builtInRows(version, folded, hasRouter(folded.realmUri))
      return [
        ...routes,
        ...builtIn.flatMap((row) => entriesOfRow(row, placeOf(row.pointer), version)),
        versionEntry(version, revealed, folded, placeOf),
      ]
    })
  })
  const hosts = documents
    .filter(({ folded }) => folded.versions.some(({ isActive }) => isActive))
    .map(({ folded, placeOf }) => hostEntry(folded.host, placeOf('/host')))
  return [...hosts, ...entries]
}

export const hostEntry = (host: string, at: string): Entry => ({
  kind: 'host',
  key: host,
  name: `host ${host}`,
  at,
  summary: '',
  full: {},
  shown: {},
})

/** Describes a route that is known as a line of a list alone, or that a version has beside its paths. */
export const entriesOfRow = (
  { methods, host, path, action, security, realm, document }: RouteRow,
  at: string,
  version?: FoldedVersion,
): readonly Entry[] =>
  methods.map((method) => {
    const isSecured = security !== 'none'
    const members: ValueMap = {
      document,
      realm,
      action: { type: action },
      security:
        isSecured && version?.security !== undefined
          ? plainSecurity(version.security)
          : { type: security },
    }
    return {
      ...placeOfRoute(method, host, path),
      at,
      summary: `action ${action}, security ${security}`,
      full: members,
      shown: members,
    }
  })

const placeOfRoute = (
  method: string,
  host: string,
  path: string,
): Pick<Entry, 'kind' | 'key' | 'name'> => ({
  kind: 'route',
  // Clients do not see what a binding is called.
  key: `${host}\n${path.replaceAll(/(?<=[/[.]):[\w-]+/g, ':')}\n${method}`,
  name: `${method} ${host}${path}`,
})

const routesOf = (
  version: FoldedVersion,
  revealed: FoldedVersion,
  document: FoldedDocument,
  placeOf: DocumentOfFile['placeOf'],
): readonly Entry[] =>
  version.paths.flatMap((path, at) =>
    Object.entries(path.operations).map(([method, operation]) => {
      const { [method as keyof FoldedPath['operations']]: full = operation } =
        revealed.paths[at]?.operations ?? {}
      return {
        ...placeOfRoute(method.toUpperCase(), document.host, path.template),
        at: placeOf(operation.pointer),
        summary: `action ${actionText(operation)}, security ${securityText(operation.security)}`,
        shown: membersOf(path, operation, document, version),
        full: membersOf(revealed.paths[at] ?? path, full, document, version),
      }
    }),
  )

const membersOf = (
  { described }: FoldedPath,
  operation: OperationDescription,
  { id, realmUri }: FoldedDocument,
  version: FoldedVersion,
): ValueMap => {
  // Those of the path answer what has no operation, and are among those of each operation that has no others.
  const { action, on_result: onResult } = operation
  const members: ValueMap = {
    document: id,
    realm: realmUri,
    ...without(described, 'headers'),
    ...without(operation, 'method', 'pointer'),
    security: plainSecurity(operation.security),
    // What a response says is in response_headers.
    action: action.type === 'forward' ? action : without(action, 'headers'),
    on_result: isMap(onResult) ? without(onResult, 'headers') : null,
  }
  // The text of the OpenAPI description follows from all else that is compared, and so do its tag and its page.
  const isDescription = ['openapi', 'docs_page'].some(
    (key) => operation.pointer === childPointer(version.pointer, key),
  )
  return sorted(
    isDescription
      ? { ...without(members, 'response_headers', 'on_result'), action: { type: action.type } }
      : members,
  )
}

const without = (map: ValueMap, ...names: readonly string[]): ValueMap =>
  Object.fromEntries(Object.entries(map).filter(([name]) => !names.includes(name)))

/** Members that are sets: in which order they are written says nothing. */
const SETS = ['schemes', 'cors']

const sorted = (members: ValueMap): ValueMap =>
  Object.fromEntries(
    Object.entries(members).map(([name, value]) => [
      name,
      SETS.includes(name) ? inOrder(value) : value,
    ]),
  )

const inOrder = (value: Value): Value => {
  if (isList(value)) return value.map(inOrder).toSorted(byText)
  return isMap(value) ? inOrderOf(value) : value
}

const inOrderOf = (map: ValueMap): ValueMap =>
  Object.fromEntries(Object.entries(map).map(([name, each]) => [name, inOrder(each)]))

const byText = (a: Value, b: Value): number => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)

/** Without the place in the document, which is none of its meaning. */
const plainSecurity = (security: ValueMap): ValueMap => {
  const { any_of: alternatives } = security
  if (alternatives !== undefined && isList(alternatives))
    return { any_of: alternatives.map((each) => (isMap(each) ? plainSecurity(each) : each)) }
  return inOrderOf(without(security, 'pointer'))
}

const versionEntry = (
  version: FoldedVersion,
  revealed: FoldedVersion,
  { id }: FoldedDocument,
  placeOf: DocumentOfFile['placeOf'],
): Entry => ({
  kind: 'version',
  key: `${id}\n${version.basePath}`,
  name: `version ${version.name} of ${id}`,
  at: placeOf(version.pointer),
  summary: '',
  // What it says of /ws is in the route of /ws.
  shown: sorted(without(version.described, 'security')),
  full: sorted(without(revealed.described, 'security')),
})
