// Defines what the operator needs of a compiled document, and the interface of the compiler, which may take longer than a
// reconciliation waits. Plain data, as large documents are compiled in another thread. Pure.

import type { Quarantined } from '../../../compiler/bounded-compiler.ts'
import { type CompileWork, environmentOf } from '../../../compiler/task.ts'
import {
  type CallerRequirement,
  callerRequirementsOf,
} from '../../../language/caller-requirements.ts'
import { compile } from '../../../language/compile.ts'
import { credentialOf, needsRouter } from '../../../language/compile/action.ts'
import type { CompiledApi, CompiledOperation } from '../../../language/compile/compiled.ts'
import { type Claim, claimsOf } from '../../../language/compile/conflicts.ts'
import type { RealmFacts } from '../../../language/realm/environment.ts'
import type { ValueMap } from '../../../language/expression/value.ts'
import type { HostPattern } from '../../../language/routes/host-pattern.ts'
import type { Problem, Warning } from '../../../language/problem.ts'
import { MAX_ROUTES } from '../../../language/routes/route-limit.ts'
import { type ForwardHost, forwardHostsOf } from '../claims/destination-policies.ts'
import type { SecretVariables } from './read-variables.ts'
import { refuseFailing } from '../../resource/refuse-failing.ts'
import { isSameValue } from '../../resource/same-value.ts'

export interface CompiledDocument {
  readonly id: string
  readonly realmUri: string
  readonly host: string
  readonly hosts: readonly HostPattern[]
  readonly claims: readonly Claim[]
  readonly forwardHosts: readonly ForwardHost[]
  /** Where forwards of active versions name a credential of the realm. */
  readonly credentialUses: readonly CredentialUse[]
  /** An active version has operations over WAMP. */
  readonly callsRouter: boolean
  /** That the users of the realm alone may meet. */
  readonly requirements: readonly CallerRequirement[]
}

export interface CredentialUse {
  /** Pointer to its name in the document. */
  readonly path: string
  readonly name: string
}

export type DocumentResult =
  | { readonly compiled: CompiledDocument; readonly warnings: readonly Warning[] }
  | {
      readonly problems: readonly Problem[]
      readonly warnings: readonly Warning[]
      readonly quarantined?: Quarantined
    }

export const compileDocument: CompileWork<DocumentResult> = (task, bounds) => {
  const compilation = compile(task.document, environmentOf(task), bounds)
  const problemsBefore = 'problems' in compilation ? compilation.problems : []
  const { problems, warnings } = refuseFailing({
    problems: problemsBefore,
    warnings: compilation.warnings,
  })
  if ('problems' in compilation || problems.length > 0) return { problems, warnings }
  const { compiled } = compilation
  const { id, realmUri, host, hosts } = compiled
  const claims = claimsOf(compiled)
  const forwardHosts = forwardHostsOf(compiled)
  const credentialUses = credentialUsesOf(compiled)
  const callsRouter = activeOperations(compiled).some(({ action }) => needsRouter(action))
  const requirements = callerRequirementsOf(compiled)
  const parts = { id, realmUri, host, hosts, claims, forwardHosts, credentialUses, callsRouter }
  return { compiled: { ...parts, requirements }, warnings }
}

const credentialUsesOf = (compiled: CompiledApi): readonly CredentialUse[] =>
  activeOperations(compiled).flatMap(({ action, pointer }) => {
    const name = credentialOf(action)
    return name === undefined ? [] : [{ path: `${pointer}/action/credential`, name }]
  })

const activeOperations = ({ versions }: CompiledApi): readonly CompiledOperation[] =>
  versions
    .filter(({ isActive }) => isActive)
    .flatMap(({ paths }) => paths.flatMap(({ operations }) => Object.values(operations)))

export interface DocumentRequest {
  /** The key of the resource. */
  readonly key: string
  readonly namespace: string
  readonly document: ValueMap
  readonly realm: RealmFacts
  readonly secrets: SecretVariables
  /** According to the status of the resource. */
  readonly quarantined?: Quarantined | undefined
  /** The digest of the version that data planes have loaded. */
  readonly programmedDigest?: string | undefined
  /** It was validated before: until there is time for it, its last good version serves. */
  readonly mayWait?: boolean
}

export interface DocumentCompiler {
  /** Undefined: it is being compiled. The creator of the compiler is notified when that is done, and calls this again. */
  compile(request: DocumentRequest): DocumentResult | undefined
  /** False: what may wait does so, until the creator of the compiler is notified. */
  hasTime(): boolean
  /** Waits for the result. */
  compileToEnd(request: DocumentRequest): Promise<DocumentResult>
  /** Whether a version that data planes have loaded is being compiled. */
  isAwaitingServing(): boolean
  /** Cancels what waits for any other key. */
  retain(live: { has(key: string): boolean }): void
}

/** What a compiler for one document needs. */
export type CompileOne = Pick<DocumentCompiler, 'compile'>

/** Whether the result of one is that of the other. Secrets are compared by their versions, as their values are read again each time. */
export const isSameRequest = (before: DocumentRequest, request: DocumentRequest): boolean =>
  isSameValue(before.secrets.versions, request.secrets.versions) &&
  // Where credentials are withheld, each validation creates the facts again; a ConfigMap is parsed again each time.
  isSameValue(before.realm, request.realm) &&
  isSameValue(before.document, request.document)

/** Compiles synchronously and without bounds, for documents of the person who runs the command. */
export const compileAtOnce = (maxRoutes: number = MAX_ROUTES): DocumentCompiler => {
  const compileNow = ({ document, realm, secrets }: DocumentRequest): DocumentResult =>
    compileDocument({ document, realm, variables: secrets.variables }, { maxRoutes })
  return {
    compile: compileNow,
    hasTime: () => true,
    compileToEnd: (request) => Promise.resolve(compileNow(request)),
    isAwaitingServing: () => false,
    retain: () => undefined,
  }
}
