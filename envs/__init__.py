"""The environments that ship with agent-envs, one folder each; they share nothing but `agent_envs`."""
