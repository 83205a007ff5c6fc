import { PasswordInput, type PasswordInputProps } from '@mantine/core'
import { useTranslation } from 'react-i18next'

interface SecretInputProps extends PasswordInputProps {
  description?: string
  isStored?: boolean | undefined
}

/** Takes a secret. One that is stored is never shown again: only another one can be given. */
export function SecretInput({ isStored = false, description, ...props }: SecretInputProps) {
  const { t } = useTranslation('settings')
  return (
    <PasswordInput
      {...props}
      description={isStored ? [description, t('secret.stored')].filter(Boolean).join(' ') : description}
      placeholder={isStored ? '••••••••' : undefined}
      // No password of the person in front of it: the browser is to offer none, and to keep none.
      autoComplete="new-password"
      data-1p-ignore
      data-lpignore="true"
      spellCheck={false}
    />
  )
}
