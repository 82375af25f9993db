// Decides whether a label selector of the Kubernetes API selects an object with these labels. An empty one selects
// everything.

import type { LabelExpression, LabelSelector } from './resource.ts'

/** @example selects({matchLabels: {tier: 'edge'}}, {tier: 'edge'}) // true */
export const selects = (
  selector: LabelSelector,
  labels: Readonly<Record<string, string>>,
): boolean =>
  Object.entries(selector.matchLabels ?? {}).every(([key, value]) => read(labels, key) === value) &&
  (selector.matchExpressions ?? []).every((expression) => holds(expression, labels))

const holds = (
  { key, operator, values = [] }: LabelExpression,
  labels: Readonly<Record<string, string>>,
): boolean => {
  const value = read(labels, key)
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
  }
}

const read = (labels: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(labels, key) ? labels[key] : undefined
