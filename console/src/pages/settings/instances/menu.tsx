import { ActionIcon, Menu } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { IconDots, IconKey, IconLogout, IconReload, IconTrash } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { api } from '../../../api/client.js'
import { notifyDone, notifyError } from '../../../shared/problem.js'
import { ConfirmDialog } from '../dialogs/confirm-dialog.js'
import type { Instance } from '../types.js'
import { instancePath } from './path.js'
import { TokenDialog } from './token-dialog.js'

/** Actions of an instance, apart from connecting it. */
export function InstanceMenu({ instance, onChanged }: { instance: Instance; onChanged: () => void }) {
  const { t } = useTranslation('settings')
  const [isShowingToken, token] = useDisclosure(false)
  const [isLoggingOut, loggingOut] = useDisclosure(false)
  const [isDeleting, deleting] = useDisclosure(false)
  const { name, kind, state } = instance
  const isDevice = kind !== 'business_api'
  const restart = useMutation({
    mutationFn: () => api.post(instancePath(name, '/restart')),
    onSuccess: () => notifyDone(t('instances.restarted', { name })),
    onError: (error) => notifyError(error),
    onSettled: onChanged,
  })
  const logOut = async () => {
    await api.post(instancePath(name, '/logout'))
    onChanged()
  }
  const remove = async () => {
    await api.delete(instancePath(name))
    onChanged()
  }
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" aria-label={t('actionsFor', { name })} loading={restart.isPending}>
            <IconDots size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item leftSection={<IconKey size={16} aria-hidden />} onClick={token.open}>
            {t('instances.showToken')}
          </Menu.Item>
          {isDevice && state !== 'close' && (
            <>
              <Menu.Item leftSection={<IconReload size={16} aria-hidden />} onClick={() => restart.mutate()}>
                {t('instances.restart')}
              </Menu.Item>
              <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={loggingOut.open}>
                {t('instances.logOut')}
              </Menu.Item>
            </>
          )}
          <Menu.Divider />
          <Menu.Item color="red" leftSection={<IconTrash size={16} aria-hidden />} onClick={deleting.open}>
            {t('instances.delete')}
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      <TokenDialog name={name} opened={isShowingToken} onClose={token.close} />
      <ConfirmDialog
        opened={isLoggingOut}
        title={t('instances.logOutTitle', { name })}
        action={t('instances.logOut')}
        onConfirm={logOut}
        onClose={loggingOut.close}
      >
        {t('instances.logOutHint')}
      </ConfirmDialog>
      <ConfirmDialog
        opened={isDeleting}
        title={t('instances.deleteTitle', { name })}
        action={t('instances.delete')}
        typed={name}
        onConfirm={remove}
        onClose={deleting.close}
      >
        {t('instances.deleteHint')}
      </ConfirmDialog>
    </>
  )
}
