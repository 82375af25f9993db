// Makes the objects of an application around gateways, from our own images: an HTTP backend and a WAMP router, each a
// Deployment and a Service of its name.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { CLUSTER_IMAGES } from './cluster-images.ts'

/** Reached at port 80: see `echo/echo-program.ts`. */
export const echoApplication = (namespace: string, name = 'echo'): readonly object[] => [
  deployment(namespace, name, {
    image: CLUSTER_IMAGES.echo,
    ports: [{ name: 'main', containerPort: 8080 }],
    readinessProbe: { httpGet: { path: '/ready', port: 'main' }, periodSeconds: 1 },
  }),
  service(namespace, name, 80),
]

/** Reached by `ws://NAME.NAMESPACE:8080/ws`; anyone may join the realms. */
export const nexusRouter = (
  namespace: string,
  realms: readonly string[],
  name = 'nexus',
): readonly object[] => [
  {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace },
    data: { 'nexus.json': JSON.stringify(nexusConfig(realms)) },
  },
  deployment(
    namespace,
    name,
    {
      image: CLUSTER_IMAGES.nexus,
      ports: [{ name: 'main', containerPort: 8080 }],
      readinessProbe: { tcpSocket: { port: 'main' }, periodSeconds: 1 },
      volumeMounts: [{ name: 'config', mountPath: '/etc/nexus' }],
    },
    [{ name: 'config', configMap: { name } }],
  ),
  service(namespace, name, 8080),
]

const nexusConfig = (realms: readonly string[]): object => {
  const path = join(import.meta.dirname, '../routers/nexus/nexus.json')
  return {
    ...(JSON.parse(readFileSync(path, 'utf8')) as object),
    websocket: '0.0.0.0:8080',
    rawsocket: '0.0.0.0:8081',
    realms: realms.map((uri) => ({ uri, anonymous: true })),
  }
}

const deployment = (
  namespace: string,
  name: string,
  container: object,
  volumes: readonly object[] = [],
): object => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace },
  spec: {
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name, imagePullPolicy: 'Never', ...container }], volumes },
    },
  },
})

const service = (namespace: string, name: string, port: number): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace },
  spec: { selector: { app: name }, ports: [{ port, targetPort: 'main' }] },
})
