// Defines the compiled form of a document: all inheritance resolved, everything known at load folded, every wait for
// the request a `Template`. Plain readonly data, so it prints in golden files and is sent to workers. Defaults of
// behaviour §2 are filled in; what only the realm knows (`timeout`) stays open.

import type { CompiledAction } from './action.ts'
import type { CompiledResponses } from './compiled-response.ts'
import type { CompiledEndpoint, CompiledSecurity } from './security.ts'
import type { Method, ServedScheme } from '../document.ts'
import type { Value } from '../expression/value.ts'
import type { ContextRead } from '../expression/reads.ts'
import type { Template } from '../expression/template.ts'
import type { HostPattern } from '../routes/host-pattern.ts'
import type { ContentType } from '../routes/negotiate.ts'
import type { OriginPattern } from '../routes/origin.ts'
import type { PathPattern } from '../routes/path-pattern.ts'

/** What an API says of itself; `compile/api-parts.ts` says from which keys each is compiled. */
export interface ApiParts {
  readonly id: string
  readonly realmUri: string
  /** As written. */
  readonly host: string
  /** The hosts that it means: `[www.]a.b` is two patterns. */
  readonly hosts: readonly HostPattern[]
}

export interface CompiledApi extends ApiParts {
  readonly versions: readonly CompiledVersion[]
  /** Its realm has a router that takes WebSocket connections, so `/ws` of its versions is served. */
  readonly hasWebSocket?: true
}

/**
 * What a version says for all its paths; `compile/version-parts.ts` says from which keys each is compiled. A part that
 * documents may lack is optional.
 */
export interface VersionParts {
  readonly isActive: boolean
  /** Response headers of a deprecated version: `Deprecation`, `Sunset`, `Link`. */
  readonly deprecation?: Readonly<Record<string, string>>
  readonly poolSize: number
  /** First one is the default; as written. */
  readonly languages: readonly string[]
  /** Built-in table of §7.3, below the API's, below the version's. */
  readonly statusCodes: StatusCodes
  /** In front of `/ws`; absent: the version does not serve it. */
  readonly security?: CompiledSecurity
}

/** Its schemes are those of `/ws`, too. */
export interface CompiledVersion extends VersionParts, UnmatchedParts {
  readonly name: string
  /** The pointer of the version in a list; absent: versions are a map by name. */
  readonly pointer?: string
  /** As written, brackets and all. */
  readonly basePath: string
  readonly paths: readonly CompiledPath[]
  /** Security schemes that mount endpoints of their own under `base_path` (§4.1, behaviour §6). */
  readonly endpoints: readonly CompiledEndpoint[]
}

export type StatusCodes = Readonly<Record<string, number>>

/** What holds for requests that no path of a version matches, as it would for those of a path that sets nothing itself. */
export interface UnmatchedParts<T = Template> extends OwningParts {
  readonly schemes: readonly ServedScheme[]
  /** Hold for its `/ws`, and where programs and people log in. */
  readonly rateLimits?: RateLimits<T> | undefined
  readonly refusal?: CompiledRefusal<T> | undefined
}

/** What holds for all requests of a path: for 405, for OPTIONS that the document does not declare, for what is refused. */
export interface PathParts<T = Template> extends Omit<UnmatchedParts<T>, 'rateLimits'> {
  readonly headers: T
}

export interface CompiledPath extends PathParts {
  /** Pointer of the path in the document: `/versions/v1/paths/~1users~1:id`. */
  readonly pointer: string
  /** `base_path` + path as written: the metrics label. */
  readonly template: string
  /** One per way to leave out optional segments. */
  readonly patterns: readonly PathPattern[]
  readonly operations: Readonly<Partial<Record<Method, CompiledOperation>>>
}

/**
 * What operations inherit; `compile/operation-parts.ts` says from which keys each part of an operation, a path or a
 * version's unmatched requests is compiled. A part that documents may lack is optional.
 * @typeParam T what stands for a template: itself, or what people read of it
 */
export interface OperationParts<T = Template> extends OwningParts {
  readonly security: CompiledSecurity
  /** Absent: the document says nothing of them. */
  readonly accepts?: readonly ContentType[]
  readonly provides: readonly ContentType[]
  readonly headers: T
  readonly body: BodyLimits
  readonly limits: CallLimits<T>
  readonly schema?: CompiledSchemas
  readonly rateLimits?: RateLimits<T> | undefined
}

export interface RateLimits<T = Template> {
  readonly limits: readonly CompiledRateLimit<T>[]
  /** Responses say what is left of them. */
  readonly hasHeaders: boolean
}

/** A token bucket for each value of `by`. */
export interface CompiledRateLimit<T = Template> {
  readonly name: string
  /** Where it is written: its buckets are those of all that inherit it. */
  readonly pointer: string
  readonly requests: T
  readonly seconds: number
  /** Left out: as `requests`. */
  readonly burst?: number
  readonly cost: T
  /** Left out: the address of the client. */
  readonly by?: T
  /** It needs no caller, so it is checked before anybody is authenticated. */
  readonly isEarly: boolean
}

/** Parts by which the gateway writes headers of every response, in place of those that documents and upstreams write. */
export interface OwningParts {
  readonly cors?: CompiledCors | undefined
}

/** Which pages of other origins may call, and read what comes. */
export interface CompiledCors {
  readonly origins: readonly OriginPattern[] | 'any'
  /** Upper case; left out: those of the path. */
  readonly methods?: readonly string[]
  /** Lower case, beside those that need no permission; `any`: those that a page asks for. */
  readonly headers: readonly string[] | 'any'
  /** Lower case. */
  readonly exposed: readonly string[]
  readonly credentials: boolean
  readonly maxAgeSeconds?: number
}

export const SCHEMA_ENTRIES = ['body', 'query_params', 'bindings', 'headers'] as const

/** What of a request a JSON Schema describes. */
export type SchemaEntry = (typeof SCHEMA_ENTRIES)[number]

/** JSON Schemas that were checked, by what they describe. */
export interface CompiledSchemas extends Readonly<Partial<Record<SchemaEntry, Value>>> {
  /** Describes `action.result`. */
  readonly result?: Value
  /** `schema_mode: enforce`: a result that is not valid fails its action. Absent where nothing describes the result. */
  readonly isEnforced?: true
}

export const describesRequests = (schemas: CompiledSchemas = {}): boolean =>
  SCHEMA_ENTRIES.some((entry) => schemas[entry] !== undefined)

/** The compiled form of one method of a path. */
export interface CompiledOperation<T = Template> extends OperationParts<T>, CompiledResponses<T> {
  readonly pointer: string
  readonly accepts: readonly ContentType[]
  readonly action: CompiledAction<T>
  /** Name of the rest of the path (`[...rest]`), where a forward's path may have it: it is sent on as it came. */
  readonly rest?: string
  /** Sorted, unique. */
  readonly reads: readonly ContextRead[]
}

/** `on_refusal`. `body` absent: the error record. */
export interface CompiledRefusal<T = Template> {
  readonly headers: T
  readonly body?: T
}

export interface BodyLimits {
  readonly maxBytes: number
  readonly readBytes: number
  readonly readMs: number
}

/** Templates yield integers; milliseconds. `timeout` absent: the realm's call timeout. */
export interface CallLimits<T = Template> {
  readonly timeout?: T
  readonly connectTimeout: T
  readonly retries: T
  readonly retryTimeout: T
}
