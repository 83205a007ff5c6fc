import type { UseFormReturnType } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { messageOf } from '../../../shared/problem.js'
import { fieldOfProblem } from './field-problem.js'

/**
 * Sends what a form holds. What the service refuses is shown beside the field that it names, which has the focus then;
 * `problem` is what concerns no field. `aliases`: other names of fields, by which the service may name them.
 */
export function useSubmit<Values extends object, Answer>(
  form: UseFormReturnType<Values>,
  send: (values: Values) => Promise<Answer>,
  onDone: (answer: Answer) => unknown,
  aliases: Record<string, string> = {},
) {
  const named = (error: unknown) => fieldOfProblem(error, Object.keys(form.values), aliases)
  const sending = useMutation({
    mutationFn: send,
    onSuccess: onDone,
    onError: (error) => {
      const name = named(error)
      if (name === null) return
      form.setFieldError(name, messageOf(error))
      form.getInputNode(name)?.focus()
    },
    // The answer may hold a secret.
    gcTime: 0,
  })
  const isOfField = sending.isError && named(sending.error) !== null
  return {
    submit: form.onSubmit((values) => sending.mutate(values)),
    isPending: sending.isPending,
    problem: sending.isError && !isOfField ? messageOf(sending.error) : null,
  }
}
