// Defines what the web page reads of a gateway or an operator (`GET /overview…`): plain data, the same of both, without
// any document, variable or secret. What grows with documents comes page by page.

/** The state of a document, a gateway or a realm, the worst first. */
export type State = 'failed' | 'degraded' | 'pending' | 'ready'

export const STATES = ['failed', 'degraded', 'pending', 'ready'] as const satisfies readonly State[]

export type StateCounts = Readonly<Record<State, number>>

/** `GET /overview` */
export interface Overview {
  readonly program: 'gateway' | 'operator'
  readonly version: string
  /** The name of the operator that manages the gateways; null: there is none. */
  readonly manager: string | null
  /** Why there is nothing to show, and who knows more; null: there is. */
  readonly message: string | null
  readonly documents: StateCounts
  readonly gateways: StateCounts
  readonly realms: StateCounts
  /** What could not be read at all, the first ones. */
  readonly notes: readonly Note[]
  /** How many more notes there are. */
  readonly moreNotes: number
}

export interface Note {
  readonly severity: 'error' | 'warning'
  readonly message: string
  /** `orders.yaml:12:5` */
  readonly place: string | null
  /** `kind namespace/name` */
  readonly resource: string | null
}

/** `GET /overview/documents?match=TEXT&state=STATE&after=NEXT`: the worst first, then by name. */
export interface DocumentsPage {
  readonly documents: readonly DocumentRow[]
  /** How many match, on all pages. */
  readonly total: number
  /** `after` of the next page; null: this is the last one. */
  readonly next: string | null
}

export interface DocumentRow {
  /** `namespace/name` of the resource; of a gateway the id of the document. */
  readonly key: string
  /** The id of the document; null: it cannot be read. */
  readonly id: string | null
  readonly host: string | null
  readonly realm: string | null
  readonly state: State
  readonly reason: string
  readonly message: string
  readonly errors: number
  readonly warnings: number
  /** The place of the first error, else of the document: `orders.yaml:12:5`; null: it is in no file. */
  readonly place: string | null
  /** JSON pointer of the first error. */
  readonly pointer: string | null
  /** `2/3`: gateways that have it, of those that should; null: it is not known. */
  readonly gateways: string | null
  /** The generation of the resource, and that of the version that serves. */
  readonly generation: number | null
  readonly serving: string | null
  /** The digest of the version that should be served. */
  readonly digest: string | null
}

/** `GET /overview/document?key=KEY` */
export interface DocumentDetail {
  readonly document: DocumentRow
  readonly conditions: readonly ConditionRow[]
  readonly errors: readonly DiagnosticRow[]
  readonly warnings: readonly DiagnosticRow[]
  /** Errors and warnings that are not listed. */
  readonly moreDiagnostics: number
  /** Which gateways hold which version, the wanted one first. */
  readonly versions: readonly VersionRow[]
}

export interface ConditionRow {
  readonly type: string
  readonly status: string
  readonly reason: string
  readonly message: string
  /** ISO 8601 */
  readonly since: string
}

export interface DiagnosticRow {
  readonly code: string
  readonly message: string
  readonly pointer: string
  readonly place: string | null
}

export interface VersionRow {
  /** null: they should have it, and have none. */
  readonly digest: string | null
  readonly isWanted: boolean
  readonly count: number
  /** Names of the first ones. */
  readonly gateways: readonly string[]
}

/** `GET /overview/gateways?match=TEXT&after=NEXT` */
export interface GatewaysPage {
  readonly gateways: readonly GatewayRow[]
  readonly total: number
  readonly next: string | null
}

/** `GET /overview/gateways?view=names&match=TEXT&after=NEXT` */
export interface GatewayNamesPage {
  readonly gateways: readonly Pick<GatewayRow, 'name'>[]
  readonly total: number
  readonly next: string | null
}

export interface GatewayRow {
  readonly name: string
  readonly url: string | null
  readonly state: State
  /** `synced`, `unreachable`, … */
  readonly phase: string
  readonly message: string
  /** The version of its program. */
  readonly version: string | null
  /** Root digest of what it has loaded of this manager; null: it is not known. */
  readonly digest: string | null
  /** What that should be. */
  readonly wanted: string | null
  readonly documents: number
  readonly realms: number
  readonly lag: Lag
  /** Documents and realms that it rejects. */
  readonly rejected: number
}

/** Documents and realms in which a gateway differs from what it should have loaded. */
export interface Lag {
  /** It should have them, and has no version. */
  readonly missing: number
  /** It has another version. */
  readonly outdated: number
  /** It should not have them any more. */
  readonly extra: number
}

/** `GET /overview/gateway?name=NAME` */
export interface GatewayDetail {
  readonly gateway: GatewayRow
  readonly differences: readonly DifferenceRow[]
  readonly moreDifferences: number
}

export interface DifferenceRow {
  readonly kind: 'document' | 'realm'
  /** Id, or uri. */
  readonly key: string
  readonly wanted: string | null
  readonly held: string | null
  /** Why it rejects the wanted version; null: it does not. */
  readonly rejection: string | null
}

/** `GET /overview/realms?match=TEXT&after=NEXT` */
export interface RealmsPage {
  readonly realms: readonly RealmRow[]
  readonly total: number
  readonly next: string | null
}

export interface RealmRow {
  /** Empty: it cannot be read. */
  readonly uri: string
  /** `namespace/name` of the resource; null: it was loaded without one. */
  readonly key: string | null
  readonly state: State
  readonly reason: string
  readonly message: string
  readonly place: string | null
  readonly documents: number
  /** How many gateways have it. */
  readonly gateways: number
  /** Sessions with its router, of all gateways. */
  readonly sessions: SessionCounts
  /** Those that are not open, the first ones. */
  readonly troubles: readonly string[]
  readonly providers: readonly ProviderRow[]
}

export interface SessionCounts {
  readonly open: number
  readonly connecting: number
  readonly waiting: number
  readonly refused: number
}

export interface ProviderRow {
  /** Its name in the realm. */
  readonly name: string
  /** How many gateways cannot discover it. */
  readonly failing: number
  /** The causes, each once. */
  readonly causes: readonly string[]
}
