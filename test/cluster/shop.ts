// What a team has in its namespace, as objects of a cluster: an application, a WAMP router, an identity provider, a realm
// and its documents. All of it runs where only restricted Pods may.

import { generateKeyPairSync } from 'node:crypto'
import { CLUSTER_IMAGES } from '../support/cluster/cluster-images.ts'

export const SHOP = 'shop'
export const SHOP_HOST = 'shop.example.com'
/** As browsers see the gateways. */
export const SHOP_ORIGIN = `https://${SHOP_HOST}`
export const SHOP_REALM = 'com.example.shop'

/** Of a Pod. */
const RESTRICTED_POD = {
  runAsNonRoot: true,
  runAsUser: 1000,
  seccompProfile: { type: 'RuntimeDefault' },
} as const
/** Of a container. */
const RESTRICTED_CONTAINER = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
} as const

export interface AppOptions {
  readonly name: string
  readonly image: string
  readonly args?: readonly string[]
  readonly labels?: Readonly<Record<string, string>>
  readonly annotations?: Readonly<Record<string, string>>
  readonly namespace?: string
  /** Mounted at /etc/app. */
  readonly configMap?: string
}

/** A Deployment of one Pod; `app` is its name. */
export const app = (options: AppOptions): object => {
  const { name, namespace = SHOP } = options
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: { selector: { matchLabels: { app: name } }, template: podOf(options) },
  }
}

/** Of a Deployment, or a Pod where it is given kind and name. */
export const podOf = (options: AppOptions): object => {
  const { name, image, args, labels = {}, annotations = {}, configMap } = options
  const volume = { name: 'config', configMap: { name: configMap } }
  return {
    metadata: { labels: { app: name, ...labels }, annotations },
    spec: {
      securityContext: RESTRICTED_POD,
      containers: [
        {
          name,
          image,
          imagePullPolicy: 'Never',
          securityContext: RESTRICTED_CONTAINER,
          ...(args !== undefined && { args }),
          ...(configMap !== undefined && {
            volumeMounts: [{ name: 'config', mountPath: '/etc/app' }],
          }),
        },
      ],
      ...(configMap !== undefined && { volumes: [volume] }),
    },
  }
}

const service = (name: string, port: number, targetPort = port): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: SHOP },
  spec: { selector: { app: name }, ports: [{ port, targetPort }] },
})

const NEXUS_PORT = 9000
const NEXUS_CONFIG = {
  websocket: `0.0.0.0:${NEXUS_PORT}`,
  rawsocket: '',
  max_message_bytes: 1_048_576,
  keep_alive_seconds: 0,
  out_queue_size: 64,
  deny: [],
  realms: [{ uri: SHOP_REALM, anonymous: true }],
}

const CLIENT = { clientId: 'gateway', clientSecret: 'only-the-provider-knows' }

/** Services first: what an identity provider is called has the address of its own. */
export const shopServices = (): readonly object[] => [
  service('echo', 80, 8080),
  service('nexus', NEXUS_PORT),
  service('idp', 8080),
]

/** @param issuer as everybody reaches the provider */
export const shopApps = (issuer: string): readonly object[] => [
  app({ name: 'echo', image: CLUSTER_IMAGES.echo }),
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'nexus', namespace: SHOP },
    data: { 'nexus.json': JSON.stringify(NEXUS_CONFIG) },
  },
  app({
    name: 'nexus',
    image: CLUSTER_IMAGES.nexus,
    configMap: 'nexus',
    args: ['-c', '/etc/app/nexus.json'],
  }),
  app({
    name: 'idp',
    image: CLUSTER_IMAGES.idp,
    args: [
      JSON.stringify({
        issuer,
        clients: [{ ...CLIENT, redirectUris: [`${SHOP_ORIGIN}/my/oidc/corp/callback`] }],
      }),
    ],
  }),
  {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'shop-realm', namespace: SHOP },
    stringData: { 'client-secret': CLIENT.clientSecret, 'signing.pem': newSigningKey() },
  },
]

const newSigningKey = (): string =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' })
    .privateKey.export({ format: 'pem', type: 'pkcs8' })
    .toString()

const secretRef = (key: string): object => ({ secretRef: { name: 'shop-realm', key } })

export const shopRealm = (issuer: string): object => ({
  apiVersion: 'gateway.svc.dev/v1alpha1',
  kind: 'Realm',
  metadata: { name: 'shop', namespace: SHOP },
  spec: {
    uri: SHOP_REALM,
    authmethods: ['oidcrp', 'cookie'],
    router: { url: `ws://nexus.${SHOP}.svc:${NEXUS_PORT}/` },
    signingKeys: [secretRef('signing.pem')],
    info: {
      oidcProviders: {
        corp: {
          issuer,
          clientId: CLIENT.clientId,
          clientSecret: secretRef('client-secret'),
          redirectUri: `${SHOP_ORIGIN}/my/oidc/corp/callback`,
          // In the cluster, without TLS.
          allowUnsafeHttp: true,
        },
      },
    },
  },
})

export interface ApiOptions {
  readonly name: string
  readonly paths: object
  readonly host?: string
  /** What stands beside the document. */
  readonly spec?: object
  /** What stands in the document beside the usual. */
  readonly more?: object
}

/** Its document is `com.example.shop.NAME`, below `/NAME`. */
export const api = ({ name, paths, host = SHOP_HOST, spec, more }: ApiOptions): object => ({
  apiVersion: 'gateway.svc.dev/v1alpha1',
  kind: 'ApiSpecification',
  metadata: { name, namespace: SHOP },
  spec: {
    ...spec,
    document: {
      id: `com.example.shop.${name}`,
      host,
      realm_uri: SHOP_REALM,
      ...more,
      versions: { v1: { base_path: `/${name}`, paths } },
    },
  },
})

export const hello = (type = 'static', text = 'Hello {{request.bindings.name}}'): object =>
  api({ name: 'hello', paths: { '/:name': { get: { action: { type, body: { text } } } } } })

export const forwardTo = (host: string): object => ({
  '/:rest': { get: { action: { type: 'forward', host, path: '/{{request.bindings.rest}}' } } },
})

export const shopDocuments = (): readonly object[] => [
  hello(),
  api({ name: 'echo', paths: forwardTo('http://echo.shop.svc') }),
  api({
    name: 'orders',
    paths: {
      '/:id': {
        get: {
          action: {
            type: 'wamp_call',
            procedure: 'com.example.orders.get',
            args: ['{{request.bindings.id}}'],
          },
          response: { on_result: { body: '{{action.result.kwargs}}' } },
        },
      },
    },
  }),
  api({
    name: 'chat',
    paths: {
      '/:room': {
        post: {
          action: {
            type: 'wamp_publish',
            topic: 'com.example.chat.{{request.bindings.room}}',
            kwargs: '{{request.body}}',
          },
          response: { on_result: { status_code: 202 } },
        },
        get: {
          action: {
            type: 'wamp_subscribe',
            topic: 'com.example.chat.{{request.bindings.room}}',
          },
          response: { on_result: { body: '{{action.result.kwargs}}' } },
        },
      },
    },
  }),
  api({
    name: 'my',
    more: { defaults: { security: { type: 'oidc', provider: 'corp' } } },
    paths: {
      '/name': {
        get: { action: { type: 'static', body: { authid: '{{security.authid}}' } }, response: {} },
      },
    },
  }),
]
