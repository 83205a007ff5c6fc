import { PasswordInput, type PasswordInputProps } from '@mantine/core'
import { useTranslation } from 'react-i18next'

interface SecretInputProps extends PasswordInputProps {
  description?: string
  isStored?: boolean | undefined
}

/** Input for a secret. A stored secret is never shown, only replaced. */
export function SecretInput({ isStored = false, description, ...props }: SecretInputProps) {
  const { t } = useTranslation('settings')
  return (
    <PasswordInput
      {...props}
      description={isStored ? [description, t('secret.stored')].filter(Boolean).join(' ') : description}
      placeholder={isStored ? '••••••••' : undefined}
      // Not a password of the user: browsers must not fill in or store it.
      autoComplete="new-password"
      data-1p-ignore
      data-lpignore="true"
      spellCheck={false}
    />
  )
}
