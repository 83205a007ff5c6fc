import { Alert, Box, Stack } from '@mantine/core'
import { useTranslation } from 'react-i18next'
import type { Connection } from '../../types.js'
import { CHOICE_FIELDS, Choice, type ChoiceField } from './choice.js'
import { askingStep } from './choices.js'
import { Steps } from './steps.js'

interface ConnectionResultProps {
  /** Null: nothing was tried yet. */
  connection: Connection | null
  isPending: boolean
  onChosen: (field: ChoiceField, value: string) => void
}

/** What each step has found, and the form for what one of them needs. */
export function ConnectionResult({ connection, isPending, onChosen }: ConnectionResultProps) {
  const { t } = useTranslation('settings')
  const open = connection ? askingStep(connection.steps) : undefined
  const field = CHOICE_FIELDS.find((one) => one === open?.field)
  return (
    <Box aria-live="polite">
      {connection && (
        <Stack>
          <Alert
            color={connection.connected ? 'teal' : 'orange'}
            variant="outline"
            title={t(connection.connected ? 'number.connect.done' : 'number.connect.open')}
          >
            <Steps steps={connection.steps} />
          </Alert>
          {field && (
            <Choice
              key={field}
              field={field}
              choices={open?.choices}
              isPending={isPending}
              onChosen={(value) => onChosen(field, value)}
            />
          )}
        </Stack>
      )}
    </Box>
  )
}
