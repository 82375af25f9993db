// Answers the part of the Kubernetes API that the operator and its benchmark use, from memory: lists by pages, watches,
// creates, replaces, applies and deletes. It validates nothing and admits everybody.

import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'

export interface LightRequest {
  readonly method: string
  /** With its query. */
  readonly url: string
  readonly contentType: string
  readonly isOnlyMetadata: boolean
  readonly body: string
}

interface LightObject {
  readonly apiVersion?: string
  readonly kind?: string
  readonly metadata: Metadata
  readonly spec?: object
  readonly status?: object
}

interface Metadata {
  readonly name: string
  readonly namespace?: string
  readonly uid: string
  readonly creationTimestamp: string
  readonly resourceVersion: string
  readonly generation: number
  readonly labels?: Readonly<Record<string, string>>
  readonly managedFields?: readonly object[]
}

interface Stored {
  readonly object: LightObject
  readonly text: string
}

interface Watcher {
  readonly isMeant: (object: LightObject) => boolean
  readonly response: ServerResponse
}

interface Happened {
  readonly version: number
  readonly object: LightObject
  readonly line: string
}

interface Collection {
  readonly objects: Map<string, Stored>
  readonly watchers: Set<Watcher>
  readonly history: Happened[]
}

interface Writing {
  readonly target: Target
  readonly collection: Collection
  readonly response: ServerResponse
}

type Place = Pick<Target, 'namespace' | 'subresource'> &
  Pick<LightRequest, 'contentType'> & { readonly name: string }

interface Target {
  /** Of the collection in all namespaces. */
  readonly collection: string
  readonly namespace: string | undefined
  readonly name: string | undefined
  readonly subresource: string | undefined
  readonly query: URLSearchParams
}

/** A watch from further back is told to list again. */
const MAX_HISTORY = 50_000

export class LightApi {
  readonly #collections = new Map<string, Collection>()
  #version = 1
  readonly #counts = new Map<string, number>()

  /** By `verb resource`. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts
  }

  /** Counts begin at zero. */
  mark(): void {
    this.#counts.clear()
  }

  answer(request: LightRequest, response: ServerResponse): void {
    const target = targetOf(request.url)
    if (target === undefined) {
      fail(response, 404, 'NotFound')
      return
    }
    this.#count(request, target)
    const collection = this.#collection(target.collection)
    if (request.method === 'GET') this.#read(target, collection, response)
    else this.#write(request, { target, collection, response })
  }

  #count({ method }: LightRequest, { collection, name, subresource, query }: Target): void {
    const reading = query.get('watch') === 'true' ? 'watch' : name === undefined ? 'list' : 'get'
    const verb = method === 'GET' ? reading : (VERBS[method] ?? method)
    const resource = collection.slice(collection.lastIndexOf('/') + 1)
    const key = `${verb} ${resource}${subresource === undefined ? '' : `/${subresource}`}`
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1)
  }

  #collection(path: string): Collection {
    const known = this.#collections.get(path)
    if (known !== undefined) return known
    const made: Collection = { objects: new Map(), watchers: new Set(), history: [] }
    this.#collections.set(path, made)
    return made
  }

  #read(target: Target, collection: Collection, response: ServerResponse): void {
    const { namespace, name, query } = target
    if (name !== undefined) {
      const found = collection.objects.get(keyOf(namespace, name))
      if (found === undefined) fail(response, 404, 'NotFound')
      else succeed(response, 200, found.text)
    } else if (query.get('watch') === 'true') this.#watch(target, collection, response)
    else this.#list(target, collection, response)
  }

  #list(target: Target, { objects }: Collection, response: ServerResponse): void {
    const isMeant = filterOf(target)
    const limit = Number(target.query.get('limit') ?? Infinity)
    const from = Number(target.query.get('continue') ?? 0)
    const texts: string[] = []
    let at = 0
    for (const { object, text } of objects.values()) {
      if (!isMeant(object)) continue
      at += 1
      if (at <= from) continue
      if (texts.length === limit) break
      texts.push(text)
    }
    const isLast = at <= from + texts.length
    const metadata = {
      resourceVersion: String(this.#version),
      ...(!isLast && { continue: String(from + texts.length) }),
    }
    const text = `{"kind":"List","apiVersion":"v1","metadata":${JSON.stringify(metadata)},"items":[${texts.join(',')}]}`
    succeed(response, 200, text)
  }

  #watch(target: Target, collection: Collection, response: ServerResponse): void {
    const since = Number(target.query.get('resourceVersion'))
    const [oldest] = collection.history
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    if (
      collection.history.length === MAX_HISTORY &&
      oldest !== undefined &&
      oldest.version > since
    ) {
      response.end(
        `${JSON.stringify({ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } })}\n`,
      )
      return
    }
    const watcher: Watcher = { isMeant: filterOf(target), response }
    for (const { version, object, line } of collection.history)
      if (version > since && watcher.isMeant(object)) response.write(line)
    collection.watchers.add(watcher)
    const bookmark = { kind: 'Bookmark', metadata: { resourceVersion: '' } }
    const timer = setInterval(() => {
      bookmark.metadata.resourceVersion = String(this.#version)
      response.write(`${JSON.stringify({ type: 'BOOKMARK', object: bookmark })}\n`)
    }, BOOKMARK_MS)
    const seconds = Number(target.query.get('timeoutSeconds') ?? 600)
    const ending = setTimeout(() => response.end(), seconds * 1000)
    response.once('close', () => {
      clearInterval(timer)
      clearTimeout(ending)
      collection.watchers.delete(watcher)
    })
  }

  #write(request: LightRequest, { target, collection, response }: Writing): void {
    const { method, isOnlyMetadata, body } = request
    if (target.subresource === 'token') {
      succeed(response, 201, JSON.stringify({ status: { token: 'light' } }))
      return
    }
    const given = (body === '' ? {} : JSON.parse(body)) as Partial<LightObject>
    const name = nameOf(target, given)
    const before = collection.objects.get(keyOf(target.namespace, name))?.object
    const problem = problemOf(request, before, given)
    if (problem !== undefined) fail(response, problem.code, problem.reason)
    else if (before !== undefined && method === 'DELETE') {
      this.#take(collection, { ...before, metadata: this.#next(before.metadata) }, 'DELETED')
      succeed(response, 200, '{"kind":"Status","status":"Success"}')
    } else {
      const object = this.#changed(before, given, { ...target, ...request, name })
      const text = this.#take(collection, object, before === undefined ? 'ADDED' : 'MODIFIED')
      const { apiVersion, kind, metadata } = object
      const sent = isOnlyMetadata ? JSON.stringify({ apiVersion, kind, metadata }) : text
      succeed(response, before === undefined ? 201 : 200, sent)
    }
  }

  #changed(
    before: LightObject | undefined,
    given: Partial<LightObject>,
    { name, namespace, subresource, contentType }: Place,
  ): LightObject {
    const isMerge = contentType.includes('merge-patch')
    if (subresource !== undefined && before !== undefined) {
      const status = isMerge ? merged(before.status, given.status) : given.status
      return { ...before, ...statusMember(status), metadata: this.#next(before.metadata) }
    }
    const known = before?.metadata ?? newMetadata(name, namespace)
    const spec = isMerge ? merged(before?.spec, given.spec) : given.spec
    const isOther = JSON.stringify(before?.spec) !== JSON.stringify(spec)
    const owned = { manager: 'kubectl', operation: 'Apply', fieldsV1: fieldsOf({ spec }) }
    const { uid } = known
    const metadata = {
      ...this.#next({ ...known, ...given.metadata, uid }),
      generation: known.generation + (isOther ? 1 : 0),
      managedFields: [owned],
    }
    return { ...before, ...given, ...(spec && { spec }), ...statusMember(before?.status), metadata }
  }

  #next(metadata: Metadata): Metadata {
    this.#version += 1
    return { ...metadata, resourceVersion: String(this.#version) }
  }

  #take(collection: Collection, object: LightObject, type: string): string {
    const { namespace, name } = object.metadata
    const text = JSON.stringify(object)
    if (type === 'DELETED') collection.objects.delete(keyOf(namespace, name))
    else collection.objects.set(keyOf(namespace, name), { object, text })
    const line = `{"type":"${type}","object":${text}}\n`
    collection.history.push({ version: this.#version, object, line })
    if (collection.history.length > MAX_HISTORY) collection.history.shift()
    for (const { isMeant, response } of collection.watchers)
      if (isMeant(object)) response.write(line)
    return text
  }
}

const BOOKMARK_MS = 60_000

const VERBS: Readonly<Record<string, string>> = {
  POST: 'create',
  PUT: 'update',
  PATCH: 'patch',
  DELETE: 'delete',
}

const keyOf = (namespace: string | undefined, name: string): string => `${namespace ?? ''}/${name}`

const targetOf = (url: string): Target | undefined => {
  const { pathname, searchParams } = new URL(url, 'http://localhost')
  const parts = pathname.split('/').filter((part) => part !== '')
  const root = parts.splice(0, parts[0] === 'api' ? 2 : 3)
  const isSpaced = parts[0] === 'namespaces' && parts.length > 2
  const namespace = isSpaced ? parts[1] : undefined
  const [plural, name, subresource] = isSpaced ? parts.slice(2) : parts
  if (plural === undefined) return undefined
  return {
    collection: [...root, plural].join('/'),
    namespace,
    name,
    subresource,
    query: searchParams,
  }
}

const filterOf = ({ namespace, query }: Target): ((object: LightObject) => boolean) => {
  const labels = (query.get('labelSelector') ?? '').split(',').filter((each) => each !== '')
  const wantedName = /metadata\.name=([^,]+)/.exec(query.get('fieldSelector') ?? '')?.[1]
  return ({ metadata }) =>
    (namespace === undefined || metadata.namespace === namespace) &&
    (wantedName === undefined || metadata.name === wantedName) &&
    labels.every((each) => {
      const [label = '', value] = each.split(/==?/)
      const own = metadata.labels?.[label]
      return own !== undefined && (value === undefined || own === value)
    })
}

const problemOf = (
  { method, contentType }: LightRequest,
  before: LightObject | undefined,
  given: Partial<LightObject>,
): { readonly code: number; readonly reason: string } | undefined => {
  const mayCreate = method === 'POST' || contentType.includes('apply')
  if (before === undefined) return mayCreate ? undefined : { code: 404, reason: 'NotFound' }
  if (method === 'POST') return { code: 409, reason: 'AlreadyExists' }
  const version = given.metadata?.resourceVersion ?? before.metadata.resourceVersion
  const isSame = version === before.metadata.resourceVersion
  return isSame ? undefined : { code: 409, reason: 'Conflict' }
}

const nameOf = ({ name }: Target, { metadata }: Partial<LightObject>): string =>
  name ?? metadata?.name ?? ''

const newMetadata = (name: string, namespace: string | undefined): Metadata => ({
  name,
  ...(namespace !== undefined && { namespace }),
  uid: randomUUID(),
  creationTimestamp: new Date().toISOString(),
  resourceVersion: '',
  generation: 0,
})

const statusMember = (status: object | undefined): { readonly status?: object } =>
  status === undefined ? {} : { status }

const merged = (before: object | undefined, patch: object | undefined): object | undefined =>
  before === undefined ? patch : { ...before, ...patch }

/** As server-side apply keeps who owns which field: it makes each object half as large again. */
const fieldsOf = (value: unknown): object => {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {}
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [`f:${name}`, fieldsOf(member)]),
  )
}

const succeed = (response: ServerResponse, status: number, text: string): void => {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(text)
}

const fail = (response: ServerResponse, code: number, reason: string): void => {
  const body = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code,
    reason,
    message: reason,
  }
  succeed(response, code, JSON.stringify(body))
}
