// biome-ignore-all format: recorded; `npx vitest run test/interfaces/description/examples.test.ts -u` records again
import type { Examples } from '../../../http/description/examples.js'

export const examples: Examples = {
  "members.create": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000001"},
      "body": {"email": "carla@globex.example", "full_name": "Carla Dias", "role": "owner"},
      "status": 201,
      "answer": {
        "success": true,
        "member": {
          "id": "01a20000-0000-7000-8000-000000000005",
          "email": "carla@globex.example",
          "full_name": "Carla Dias",
          "role": "owner",
          "has_password": false,
          "created_at": "2026-03-02T09:00:00.000Z",
          "updated_at": "2026-03-02T09:00:00.000Z"
        }
      }
    },
    {
      "name": "already_taken",
      "path": {"id": "01a20000-0000-7000-8000-000000000001"},
      "body": {"email": "carla@globex.example", "full_name": "Carla Dias", "role": "owner"},
      "status": 409,
      "answer": {
        "success": false,
        "error": "Already taken",
        "message": "The organization has a member with the e-mail address carla@globex.example already"
      }
    }
  ],
  "members.list": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000001"},
      "status": 200,
      "answer": {
        "success": true,
        "members": [
          {
            "id": "01a20000-0000-7000-8000-000000000005",
            "email": "carla@globex.example",
            "full_name": "Carla Dias",
            "role": "owner",
            "has_password": false,
            "created_at": "2026-03-02T09:00:00.000Z",
            "updated_at": "2026-03-02T09:00:00.000Z"
          }
        ]
      }
    },
    {
      "name": "organization_not_found",
      "path": {"id": "01a20000-0000-7000-8000-000000000002"},
      "status": 404,
      "answer": {
        "success": false,
        "error": "Organization not found",
        "message": "There is no organization with the id 01a20000-0000-7000-8000-000000000002"
      }
    }
  ],
  "members.createSignInLink": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000005"},
      "status": 201,
      "answer": {
        "success": true,
        "link": {"url": "https://parley.example/console/sign-in#TOKEN", "expires_at": "2026-03-03T09:00:00.000Z"}
      }
    },
    {
      "name": "member_not_found",
      "path": {"id": "01a20000-0000-7000-8000-000000000002"},
      "status": 404,
      "answer": {
        "success": false,
        "error": "Member not found",
        "message": "There is no member with the id 01a20000-0000-7000-8000-000000000002"
      }
    }
  ],
  "members.remove": [
    {
      "name": "example",
      "path": {"id": "01a20000-0000-7000-8000-000000000005"},
      "status": 200,
      "answer": {"success": true, "message": "The member has been removed"}
    },
    {
      "name": "member_not_found",
      "path": {"id": "01a20000-0000-7000-8000-000000000002"},
      "status": 404,
      "answer": {
        "success": false,
        "error": "Member not found",
        "message": "There is no member with the id 01a20000-0000-7000-8000-000000000002"
      }
    }
  ]
}
