// Reads the parts of a Pod sent for admission that injection needs. Pure, copies nothing.

import { mapAt, mapsAt, memberAt, numberAt, textAt } from '../../language/expression/members.ts'
import type { Container, Pod } from '../kubernetes/objects.ts'

export const labelOf = (pod: Pod, name: string): string | undefined =>
  metadataText(pod, 'labels', name)

export const annotationOf = (pod: Pod, name: string): string | undefined =>
  metadataText(pod, 'annotations', name)

const metadataText = (pod: Pod, of: 'labels' | 'annotations', name: string): string | undefined => {
  const member = memberAt(mapAt(mapAt(pod, 'metadata'), of), name)
  return typeof member === 'string' ? member : undefined
}

export const containerNamed = (
  pod: Pod,
  list: 'containers' | 'initContainers',
  name: string,
): Container | undefined =>
  mapsAt(mapAt(pod, 'spec'), list).find((each) => textAt(each, 'name') === name)

export interface DeclaredPort {
  readonly container: string
  readonly port: number
}

/** TCP ports of all containers: those that run before the application share its addresses too. */
export const declaredPorts = (pod: Pod): readonly DeclaredPort[] => {
  const spec = mapAt(pod, 'spec')
  return [...mapsAt(spec, 'containers'), ...mapsAt(spec, 'initContainers')].flatMap((container) =>
    mapsAt(container, 'ports').flatMap((each) => {
      const port = numberAt(each, 'containerPort')
      const isTcp = ['', 'TCP'].includes(textAt(each, 'protocol'))
      return port !== undefined && isTcp ? [{ container: textAt(container, 'name'), port }] : []
    }),
  )
}
