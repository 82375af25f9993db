// A Pod as it is sent for admission in, its parts out: what the injection asks of it. Pure, copies nothing.

import { isList, isMap, type ValueMap } from '../../language/expression/value.ts'
import { ownMember } from '../resource/shape.ts'

export const mapOf = (value: ValueMap, name: string): ValueMap => {
  const member = ownMember(value, name)
  return isMap(member) ? member : {}
}

export const mapsOf = (value: ValueMap, name: string): readonly ValueMap[] => {
  const member = ownMember(value, name)
  return isList(member) ? member.filter(isMap) : []
}

export const textOf = (value: ValueMap, name: string): string => {
  const member = ownMember(value, name)
  return typeof member === 'string' ? member : ''
}

export const labelOf = (pod: ValueMap, name: string): string | undefined =>
  metadataText(pod, 'labels', name)

export const annotationOf = (pod: ValueMap, name: string): string | undefined =>
  metadataText(pod, 'annotations', name)

const metadataText = (pod: ValueMap, of: string, name: string): string | undefined => {
  const member = ownMember(mapOf(mapOf(pod, 'metadata'), of), name)
  return typeof member === 'string' ? member : undefined
}

export const containerNamed = (
  pod: ValueMap,
  list: 'containers' | 'initContainers',
  name: string,
): ValueMap | undefined =>
  mapsOf(mapOf(pod, 'spec'), list).find((each) => textOf(each, 'name') === name)

export interface DeclaredPort {
  readonly container: string
  readonly port: number
}

/** TCP, of all containers: also those that run before the application share its addresses. */
export const declaredPorts = (pod: ValueMap): readonly DeclaredPort[] => {
  const spec = mapOf(pod, 'spec')
  return [...mapsOf(spec, 'containers'), ...mapsOf(spec, 'initContainers')].flatMap((container) =>
    mapsOf(container, 'ports').flatMap((each) => {
      const port = ownMember(each, 'containerPort')
      const isTcp = ['', 'TCP'].includes(textOf(each, 'protocol'))
      return typeof port === 'number' && isTcp
        ? [{ container: textOf(container, 'name'), port }]
        : []
    }),
  )
}
