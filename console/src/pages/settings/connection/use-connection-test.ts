import type { UseFormReturnType } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { messageOf } from '../../../shared/problem.js'
import { fieldOfProblem } from '../forms/field-problem.js'
import type { ConnectionCheck } from '../types.js'

type CheckName = 'number' | 'templates' | 'orders'
type Answer = { checks: ConnectionCheck<CheckName>[] }

/** Tests a form's values without storing them. The outcome is cleared when a value changes. */
export function useConnectionTest<Values extends object>(
  form: UseFormReturnType<Values>,
  ask: (values: Values) => Promise<Answer>,
) {
  const named = (error: unknown) => fieldOfProblem(error, Object.keys(form.values))
  const testing = useMutation({
    mutationFn: ask,
    onError: (error) => {
      const name = named(error)
      if (name === null) return
      form.setFieldError(name, messageOf(error))
      form.getInputNode(name)?.focus()
    },
  })
  const isOfNow = testing.variables === form.values
  const isOfField = testing.isError && named(testing.error) !== null
  return {
    run: () => testing.mutate(form.values),
    isPending: testing.isPending,
    checks: isOfNow ? (testing.data?.checks ?? null) : null,
    problem: isOfNow && testing.isError && !isOfField ? messageOf(testing.error) : null,
  }
}
