// Compiles Action Objects (§2.5, behaviour §4): holds the compiled form of each type of action, and one table of what
// the language does with it. Nothing else in the language knows of types of actions.

import type { Method } from '../document.ts'
import type { ContextRead } from '../expression/reads.ts'
import type { CheckedResponses } from './compiled-response.ts'
import type { Template } from '../expression/template.ts'
import { childPointer } from '../../base/json-pointer.ts'
import {
  type ActionResponse,
  NO_BODY,
  OWN_RESPONSE,
  RESULT_BODY,
  routerResponse,
} from './action-response.ts'
import type { Diagnostics } from './diagnostics.ts'
import { type FoldedMap, readText } from './folded.ts'
import {
  compileForward,
  FORWARD_KEYS,
  type ForwardAction,
  type ForwardDeps,
  forwardHosts,
  forwardReads,
  forwardResponse,
  forwardUses,
  mapForward,
} from './forward-action.ts'
import type { ActionSchema } from '../schema/document-notation.ts'
import type { UpstreamHost } from './hosts.ts'
import {
  compileStatic,
  mapStatic,
  STATIC_KEYS,
  type StaticAction,
  staticUses,
} from './static-action.ts'
import type { TemplateUse } from './template-use.ts'
import {
  compilerWithOptionalUri,
  compilerWithUri,
  mapWithOptionalUri,
  mapWithUri,
  WAMP_KEYS,
  type WampCallAction,
  type WampPublishAction,
  type WampRegisterAction,
  type WampSubscribeAction,
  type WampUnregisterAction,
  type WampUnsubscribeAction,
} from './wamp-action.ts'

/** `options: {action: {}}` only: answers `on_result`, 204 by default. */
export interface EmptyAction {
  readonly type: 'empty'
}

/** Files of the gateway that show descriptions of APIs to people. */
export type DocsFile = 'swagger-ui-bundle.js' | 'swagger-ui.css'

/** Gives the bytes of a file of the gateway as the body of its result, for `docs_page` alone. */
interface DocsFileAction {
  readonly type: 'docs_file'
  readonly name: DocsFile
}

/** Type → compiled form. */
interface ActionForms<T> {
  readonly empty: EmptyAction
  readonly docs_file: DocsFileAction
  readonly static: StaticAction<T>
  readonly forward: ForwardAction<T>
  readonly wamp_call: WampCallAction<T>
  readonly wamp_publish: WampPublishAction<T>
  readonly wamp_subscribe: WampSubscribeAction<T>
  readonly wamp_unsubscribe: WampUnsubscribeAction<T>
  readonly wamp_register: WampRegisterAction<T>
  readonly wamp_unregister: WampUnregisterAction<T>
}

export type ActionType = keyof ActionForms<unknown>

/**
 * An action of one of the types `K`.
 * @typeParam T what stands for a template: itself, or what people read of it
 */
export type CompiledAction<T = Template, K extends ActionType = ActionType> = {
  readonly [P in K]: ActionForms<T>[P] & { readonly type: P }
}[K]

/** An operation with an action of one of the types `K`. */
interface OperationOf<K extends ActionType> extends CheckedResponses {
  readonly action: CompiledAction<Template, K>
  readonly reads: readonly ContextRead[]
}

/** What the language does with one type of action. */
interface ActionKind<K extends ActionType> {
  /** Absent: no document can name the type. */
  readonly written?: {
    readonly keys: ActionSchema
    /** Gives undefined where a problem was reported. */
    readonly compile: (
      map: FoldedMap,
      diagnostics: Diagnostics,
      deps: ForwardDeps,
    ) => CompiledAction<Template, K> | undefined
  }
  readonly map: <A, B>(
    action: CompiledAction<A, K>,
    change: (template: A) => B,
  ) => CompiledAction<B, K>
  /** What of the context it reads besides its templates. */
  readonly reads: (action: CompiledAction<Template, K>) => readonly ContextRead[]
  /** Where its requests go, as namespaces may be confined to hosts of their own. */
  readonly upstreamHosts: (action: CompiledAction<Template, K>) => readonly UpstreamHost[]
  /** Whether it needs the WAMP router of the realm. */
  readonly needsRouter: boolean
  /** The members of its result; undefined: they depend on the router and the callee. */
  readonly resultKeys: readonly string[] | undefined
  /** Whether it may fail, so that `on_error` responds. */
  readonly canFail: boolean
  /** Whether every request evaluates the time limits of the operation. */
  readonly usesLimits: boolean
  /** Where its templates stand in the Action Object, and whether every request evaluates them. */
  readonly uses: (operation: OperationOf<K>, names: UseNames) => readonly TemplateUse[]
  /** The credential of the realm that its requests go to upstreams with. */
  readonly credential: (action: CompiledAction<Template, K>) => string | undefined
  /** How it responds where `on_result` leaves that open. */
  readonly respond: (operation: OperationOf<K>) => ActionResponse
}

interface UseNames {
  /** What the document calls the URI of a WAMP action. */
  readonly uri: string
}

const nothing = (): readonly [] => []
const noCredential = (): undefined => undefined

/** Traits of actions that send nothing out of the gateway. */
const LOCAL = {
  credential: noCredential,
  reads: nothing,
  upstreamHosts: nothing,
  needsRouter: false,
  canFail: false,
  usesLimits: false,
}
const OF_ROUTER = {
  credential: noCredential,
  reads: nothing,
  upstreamHosts: nothing,
  needsRouter: true,
  resultKeys: undefined,
  canFail: true,
  usesLimits: false,
}
/** Every request evaluates the options, which are passed to the router. */
const EVALUATED = { uses: usesOfWamp(true) }
/** Not every request evaluates the options, as what it asks for may be there already. */
const SELDOM_EVALUATED = { uses: usesOfWamp(false) }

const KINDS: { readonly [K in ActionType]: ActionKind<K> } = {
  empty: {
    map: (action) => action,
    ...LOCAL,
    resultKeys: undefined,
    uses: nothing,
    respond: () => ({ headers: undefined, body: NO_BODY, ...OWN_RESPONSE }),
  },
  docs_file: {
    map: (action) => action,
    ...LOCAL,
    resultKeys: ['body'],
    uses: nothing,
    respond: () => ({
      headers: undefined,
      body: RESULT_BODY,
      ...OWN_RESPONSE,
      isFixed: false,
    }),
  },
  static: {
    written: { keys: STATIC_KEYS, compile: compileStatic },
    map: mapStatic,
    ...LOCAL,
    resultKeys: ['headers', 'body'],
    uses: staticUses,
    respond: ({ action: { headers, body } }) => ({ headers, body, ...OWN_RESPONSE }),
  },
  forward: {
    written: { keys: FORWARD_KEYS, compile: compileForward },
    map: mapForward,
    reads: forwardReads,
    upstreamHosts: forwardHosts,
    needsRouter: false,
    resultKeys: ['status_code', 'headers', 'body', 'uri'],
    canFail: true,
    usesLimits: true,
    uses: ({ action }) => forwardUses(action),
    credential: ({ credential }) => credential,
    respond: forwardResponse,
  },
  wamp_call: {
    written: { keys: WAMP_KEYS.wamp_call, compile: compilerWithUri('wamp_call', ['procedure']) },
    map: mapWithUri,
    ...OF_ROUTER,
    usesLimits: true,
    ...EVALUATED,
    respond: routerResponse('finite'),
  },
  wamp_publish: {
    written: {
      keys: WAMP_KEYS.wamp_publish,
      compile: compilerWithUri('wamp_publish', ['topic', 'procedure']),
    },
    map: mapWithUri,
    ...OF_ROUTER,
    ...EVALUATED,
    respond: routerResponse('none'),
  },
  wamp_subscribe: {
    written: {
      keys: WAMP_KEYS.wamp_subscribe,
      compile: compilerWithUri('wamp_subscribe', ['topic', 'procedure']),
    },
    map: mapWithUri,
    ...OF_ROUTER,
    ...SELDOM_EVALUATED,
    respond: routerResponse('endless'),
  },
  wamp_unsubscribe: {
    written: {
      keys: WAMP_KEYS.wamp_unsubscribe,
      compile: compilerWithOptionalUri('wamp_unsubscribe', ['topic', 'procedure']),
    },
    map: mapWithOptionalUri,
    ...OF_ROUTER,
    ...SELDOM_EVALUATED,
    respond: routerResponse('none'),
  },
  wamp_register: {
    written: {
      keys: WAMP_KEYS.wamp_register,
      compile: compilerWithUri('wamp_register', ['procedure']),
    },
    map: mapWithUri,
    ...OF_ROUTER,
    ...SELDOM_EVALUATED,
    respond: routerResponse('none'),
  },
  wamp_unregister: {
    written: {
      keys: WAMP_KEYS.wamp_unregister,
      compile: compilerWithOptionalUri('wamp_unregister', ['procedure']),
    },
    map: mapWithOptionalUri,
    ...OF_ROUTER,
    ...SELDOM_EVALUATED,
    respond: routerResponse('none'),
  },
}

/** What a document may write as `type`. */
const ACTION_TYPES = (Object.keys(KINDS) as readonly ActionType[]).filter(
  (type) => KINDS[type].written !== undefined,
)

/** Type → keys, of what a document may write. */
export const ACTION_KEYS: Readonly<Record<string, ActionSchema>> = Object.fromEntries(
  ACTION_TYPES.flatMap((type) => {
    const { written } = KINDS[type]
    return written === undefined ? [] : [[type, written.keys]]
  }),
)

type WampType = Extract<ActionType, `wamp_${string}`>

function usesOfWamp(isCertain: boolean): ActionKind<WampType>['uses'] {
  return ({ action }, names) => [
    { template: action.uri, keys: [names.uri], isCertain },
    { template: action.args, keys: ['args'], isCertain },
    { template: action.kwargs, keys: ['kwargs'], isCertain },
    { template: action.options, keys: ['options'], isCertain },
  ]
}

/** What the compilation of an action depends on besides the action itself. */
export interface ActionDeps extends Omit<ForwardDeps, 'method'> {
  readonly diagnostics: Diagnostics
}

/** undefined: a problem was reported. `{}` is an action under `options` alone. */
export const compileAction = (
  map: FoldedMap,
  method: Method,
  { diagnostics, ...of }: ActionDeps,
): CompiledAction | undefined => {
  if (method === 'options' && map.keys.length === 0) return { type: 'empty' }
  const pointer = childPointer(map.pointer, 'type')
  const typeTemplate = map.get('type')
  if (typeTemplate === undefined) {
    if (!map.keys.includes('type'))
      diagnostics.problem(
        'missing_required_value',
        pointer,
        `an action needs a type: ${ACTION_TYPES.join(', ')}`,
      )
    return undefined
  }
  const text = readText(typeTemplate, pointer, diagnostics)
  if (text === undefined) return undefined
  const type = ACTION_TYPES.find((name) => name === text)
  if (type === undefined) {
    diagnostics.problem(
      'unsupported_action_type',
      pointer,
      `there is no action of that type; there are ${ACTION_TYPES.join(', ')}`,
    )
    return undefined
  }
  return KINDS[type].written?.compile(map, diagnostics, { ...of, method })
}

/** The action with each of its templates as `change` gives it. */
export const mapAction = <K extends ActionType, A, B>(
  action: CompiledAction<A, K>,
  change: (template: A) => B,
): CompiledAction<B, K> => KINDS[action.type].map(action, change)

/** What of the context an action reads beside its templates. */
export const ownReads = <K extends ActionType>(
  action: CompiledAction<Template, K>,
): readonly ContextRead[] => KINDS[action.type].reads(action)

/** The upstream hosts that requests of an action may go to. */
export const upstreamHostsOf = <K extends ActionType>(
  action: CompiledAction<Template, K>,
): readonly UpstreamHost[] => KINDS[action.type].upstreamHosts(action)

/** The members of an action's result; undefined: they depend on the router and the callee. */
export const resultKeysOf = (type: ActionType): readonly string[] | undefined =>
  KINDS[type].resultKeys

/** Whether an action may fail, as one may that does more than respond. */
export const canFail = ({ type }: Pick<CompiledAction, 'type'>): boolean => KINDS[type].canFail

/** Whether every request evaluates the time limits of the operation. */
export const usesLimits = ({ type }: CompiledAction): boolean => KINDS[type].usesLimits

/** The templates of an operation's action, with where they stand. */
export const templateUsesOf = <K extends ActionType>(
  operation: OperationOf<K>,
  names: UseNames,
): readonly TemplateUse[] => KINDS[operation.action.type].uses(operation, names)

/** Whether an action needs the WAMP router of its realm. */
export const needsRouter = ({ type }: Pick<CompiledAction, 'type'>): boolean =>
  KINDS[type].needsRouter

/** The credential of the realm that requests of an action go to upstreams with. */
export const credentialOf = <K extends ActionType>(
  action: CompiledAction<Template, K>,
): string | undefined => KINDS[action.type].credential(action)

/** How an operation responds, as far as its action decides it. */
export const actionResponse = <K extends ActionType>(operation: OperationOf<K>): ActionResponse =>
  KINDS[operation.action.type].respond(operation)
