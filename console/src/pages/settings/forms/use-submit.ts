import type { UseFormReturnType } from '@mantine/form'
import { useMutation } from '@tanstack/react-query'
import { messageOf } from '../../../shared/problem.js'
import { fieldOfProblem } from './field-problem.js'

/**
 * Submits a form. An error that names a field is shown at that field, which gets the focus; `problem` is any other
 * error. `aliases`: other names of fields in the service's errors.
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
    // The answer may contain a secret.
    gcTime: 0,
  })
  const isOfField = sending.isError && named(sending.error) !== null
  return {
    submit: form.onSubmit((values) => sending.mutate(values)),
    isPending: sending.isPending,
    problem: sending.isError && !isOfField ? messageOf(sending.error) : null,
  }
}
